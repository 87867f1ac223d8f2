import type { HistoryEntry } from '../../../engine/queries.ts'
import { RunningChecksum } from '../journal/running-checksum.ts'
import { readEntry } from './history-codec.ts'

/**
 * The file begins with one line and goes on with records: length and checksum, four bytes each, and the
 * bytes of an entry.
 */
const HEADER = Buffer.from('holdfast history 1\n')
const RECORD_HEADER_BYTES = 8

/** Far above what the longest names need: a length beyond it is damage. */
const ENTRY_BYTES_MAX = 4096

const FIRST_BYTES = 4 * 1024

/** Records that are gathered to be written together. */
export class HistoryRecords {
  #bytes: Buffer
  #length = 0

  /** With room for this many bytes, and more when they come. */
  constructor(bytes = 0) {
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, Math.ceil(bytes)))
  }

  get isEmpty(): boolean {
    return this.#length === 0
  }

  get length(): number {
    return this.#length
  }

  /** The line that a file begins with. */
  addHeader(): void {
    this.#reserve(HEADER.length)
    HEADER.copy(this.#bytes, this.#length)
    this.#length += HEADER.length
  }

  /** A record of the entry whose bytes stand in `bytes` from `start` to `end`. */
  add(bytes: Buffer, start: number, end: number): void {
    const length = end - start
    this.#reserve(RECORD_HEADER_BYTES + length)
    const at = this.#length
    this.#bytes.writeUInt32LE(length, at)
    this.#bytes.writeUInt32LE(checksumOf(bytes, start, end), at + 4)
    const to = at + RECORD_HEADER_BYTES
    // Quicker than a call out of JavaScript for what is as short as an entry.
    for (let index = 0; index < length; index += 1) {
      this.#bytes[to + index] = bytes[start + index] as number
    }
    this.#length = to + length
  }

  /** What was gathered, which is the caller's from here on. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#length)
    this.clear()
    return bytes
  }

  clear(): void {
    if (this.#length > 0) this.#bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
    this.#length = 0
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

export interface DecodedHistory {
  readonly entries: readonly HistoryEntry[]
  /** Where the first byte stands that is not part of a sound record. */
  readonly end: number
}

/** Everything up to the first record that is torn or damaged. */
export function decodeHistory(bytes: Buffer): DecodedHistory {
  const entries: HistoryEntry[] = []
  if (!bytes.subarray(0, HEADER.length).equals(HEADER)) return { entries, end: 0 }
  let end = HEADER.length
  for (;;) {
    const record = recordAt(bytes, end)
    const entry = record === undefined ? undefined : readEntry(record)
    if (record === undefined || entry === undefined) return { entries, end }
    entries.push(entry)
    end += RECORD_HEADER_BYTES + record.length
  }
}

function recordAt(bytes: Buffer, at: number): Buffer | undefined {
  if (at + RECORD_HEADER_BYTES > bytes.length) return undefined
  const length = bytes.readUInt32LE(at)
  const start = at + RECORD_HEADER_BYTES
  const end = start + length
  if (length > ENTRY_BYTES_MAX || end > bytes.length) return undefined
  return checksumOf(bytes, start, end) === bytes.readUInt32LE(at + 4)
    ? bytes.subarray(start, end)
    : undefined
}

/** Never zero for an empty record, so that a stretch of zeros is not taken for one. */
function checksumOf(bytes: Buffer, start: number, end: number): number {
  return new RunningChecksum(end - start + 1).update(bytes, start, end)
}

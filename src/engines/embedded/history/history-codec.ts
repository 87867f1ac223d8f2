import type { HistoryEnd, HistoryEntry } from '../../../engine/queries.ts'
import type { Mode, Namespace } from '../../../law/view.ts'
import { RunningChecksum } from '../journal/running-checksum.ts'
import { RecordReader } from '../record-reader.ts'
import { RecordWriter } from '../record-writer.ts'

/**
 * The file begins with one line and goes on with records: length and checksum, four bytes each, and the
 * entry. Numbers in these lists are part of the format: append, never reorder.
 */
export const HISTORY_HEADER: Buffer = Buffer.from('holdfast history 1\n')
const RECORD_HEADER_BYTES = 8
const NAMESPACES: readonly Namespace[] = ['lock', 'operation']
const MODES: readonly Mode[] = ['read', 'write']
const ENDS: readonly HistoryEnd[] = ['released', 'expired', 'disconnected', 'forced', 'failed']

/** Far above what the longest names need: a length beyond it is damage. */
const ENTRY_BYTES_MAX = 4096

const writer = new RecordWriter()

export function encodeHistoryEntry(entry: HistoryEntry): Buffer {
  writer.byte(NAMESPACES.indexOf(entry.namespace))
  writer.text(entry.key)
  writer.text(entry.owner)
  writer.byte(MODES.indexOf(entry.mode))
  writer.byte(ENDS.indexOf(entry.end))
  writer.number(entry.token)
  writer.number(Math.max(0, entry.fromMs))
  writer.number(Math.max(0, entry.toMs))
  const bytes = writer.take()
  const record = Buffer.allocUnsafe(RECORD_HEADER_BYTES + bytes.length)
  record.writeUInt32LE(bytes.length, 0)
  record.writeUInt32LE(checksumOf(bytes), 4)
  bytes.copy(record, RECORD_HEADER_BYTES)
  return record
}

export interface DecodedHistory {
  readonly entries: readonly HistoryEntry[]
  /** Where the first byte stands that is not part of a sound record. */
  readonly end: number
}

/** Everything up to the first record that is torn or damaged. */
export function decodeHistory(bytes: Buffer): DecodedHistory {
  const entries: HistoryEntry[] = []
  if (!bytes.subarray(0, HISTORY_HEADER.length).equals(HISTORY_HEADER)) return { entries, end: 0 }
  let end = HISTORY_HEADER.length
  for (;;) {
    const record = recordAt(bytes, end)
    const entry = record === undefined ? undefined : decodeEntry(record)
    if (record === undefined || entry === undefined) return { entries, end }
    entries.push(entry)
    end += RECORD_HEADER_BYTES + record.length
  }
}

function recordAt(bytes: Buffer, at: number): Buffer | undefined {
  if (at + RECORD_HEADER_BYTES > bytes.length) return undefined
  const length = bytes.readUInt32LE(at)
  const start = at + RECORD_HEADER_BYTES
  if (length > ENTRY_BYTES_MAX || start + length > bytes.length) return undefined
  const record = bytes.subarray(start, start + length)
  return checksumOf(record) === bytes.readUInt32LE(at + 4) ? record : undefined
}

/** `undefined` for one that a later version may have written. */
function decodeEntry(record: Buffer): HistoryEntry | undefined {
  const from = new RecordReader(record)
  const namespace = NAMESPACES[from.byte()]
  const key = from.text()
  const owner = from.text()
  const mode = MODES[from.byte()]
  const end = ENDS[from.byte()]
  if (namespace === undefined || mode === undefined || end === undefined) return undefined
  const token = from.number()
  const fromMs = from.number()
  return { namespace, key, owner, mode, token, fromMs, toMs: from.number(), end }
}

/** Never zero for an empty record, so that a stretch of zeros is not taken for one. */
function checksumOf(bytes: Buffer): number {
  const checksum = new RunningChecksum(bytes.length + 1)
  return checksum.update(bytes, 0, bytes.length)
}

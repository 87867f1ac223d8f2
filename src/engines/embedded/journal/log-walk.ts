import type { Disk, DiskFile } from './disk.ts'
import { type FileHeader, FILE_HEADER_BYTES, parseFileHeader } from './file-header.ts'
import { FrameReader } from './frame-reader.ts'
import { toDamaged } from './journal-errors.ts'
import { journalFileName } from './journal-file-names.ts'
import { LogFile } from './log-file.ts'

/** A place in a log: where a batch was cut off because its write was never finished, or where the log ends. */
export interface LogPlace {
  readonly file: string
  readonly offset: number
}

interface WalkedLog {
  readonly name: string
  readonly header: FileHeader
  readonly file: DiskFile
  readonly size: number
  /** Where its valid frames end. */
  readonly end: number
  /** Whether something other than zeros follows. */
  readonly isTorn: boolean
}

interface FramePlace {
  readonly file: DiskFile
  readonly offset: number
  readonly end: number
}

/** Reads the logs one after the other; the rules are in `recovery.ts`. */
export class LogWalk {
  readonly #disk: Disk
  readonly #replay: (record: Uint8Array) => void
  readonly #logs: WalkedLog[] = []
  #lastFrame: FramePlace | null = null
  #cut: LogPlace | null = null
  #expected: number
  #records = 0
  #framesBytes = 0
  #endsClosed = true

  readonly #lastBatch: number

  /** With `lastBatch` it goes no further, whatever follows. */
  constructor(
    disk: Disk,
    { firstBatch, lastBatch = Infinity }: { firstBatch: number; lastBatch?: number },
    replay: (record: Uint8Array) => void,
  ) {
    this.#disk = disk
    this.#expected = firstBatch
    this.#lastBatch = lastBatch
    this.#replay = replay
  }

  /** Number of the batch that comes after all that were read. */
  get expected(): number {
    return this.#expected
  }

  /** How many records were handed over. */
  get records(): number {
    return this.#records
  }

  get framesBytes(): number {
    return this.#framesBytes
  }

  /** Where the frames end that were read, or null when there is no log. */
  get end(): LogPlace | null {
    const last = this.#logs.at(-1)
    return last === undefined ? null : { file: last.name, offset: last.end }
  }

  /** The newest format among the logs, or 0 when there is none. */
  get newestVersion(): number {
    return Math.max(0, ...this.#logs.map(({ header }) => header.version))
  }

  /** Whether the last frame is an empty one, or there is none. */
  get endsClosed(): boolean {
    return this.#endsClosed
  }

  /** What `repair` cut off. */
  get cut(): LogPlace | null {
    return this.#cut
  }

  /** Reads the next log. It must begin with the batch that the ones before lead to. */
  async readLog(sequence: number): Promise<void> {
    const name = journalFileName('log', sequence)
    const file = await this.#disk.open(name, 'synced')
    const previous = this.#logs.at(-1)
    try {
      const reader = new FrameReader(file, await file.size())
      const header = parseFileHeader(await reader.bytes(0, FILE_HEADER_BYTES), name)
      if (header.kind !== 'log' || header.sequence !== sequence) {
        throw toDamaged(name, 0, 'the file is not the one its name says')
      }
      const end = await this.#replayFrames(reader, file, header.salt)
      const isAtLast = this.#expected > this.#lastBatch
      if (!isAtLast && (await reader.hasFrameFrom(end, header.salt))) {
        const isFirst = end === FILE_HEADER_BYTES && previous?.isTorn === true
        const place = isFirst ? previous : { name, end }
        const found = `batch ${this.#expected} cannot be read, though others follow`
        throw toDamaged(place.name, place.end, found)
      }
      const isTorn = !(await reader.isZeroFrom(end))
      this.#logs.push({ name, header, file, size: reader.size, end, isTorn })
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async #replayFrames(reader: FrameReader, file: DiskFile, salt: number): Promise<number> {
    let offset = FILE_HEADER_BYTES
    for (;;) {
      const frame = await reader.tryReadFrame(offset, salt)
      if (frame === null || frame.number !== this.#expected) break
      if (frame.number > this.#lastBatch) break
      for (const record of frame.records) this.#replay(record)
      this.#lastFrame = { file, offset, end: frame.end }
      this.#records += frame.records.length
      this.#endsClosed = frame.records.length === 0
      this.#expected++
      offset = frame.end
    }
    this.#framesBytes += offset - FILE_HEADER_BYTES
    return offset
  }

  /** Cuts off what was torn and makes the last batch durable. */
  async repair(): Promise<void> {
    for (const log of this.#logs) {
      if (!log.isTorn) continue
      await log.file.truncate(log.end)
      await log.file.sync()
      this.#cut = { file: log.name, offset: log.end }
    }
    if (this.#lastFrame === null) return
    const { file, offset, end } = this.#lastFrame
    const frame = Buffer.allocUnsafeSlow(end - offset)
    const read = await file.read(frame, offset)
    if (read < frame.length) throw new Error('the last batch cannot be read again')
    await file.write(frame, offset)
  }

  /** The last log, ready for more, or null when there is none. The others are closed. */
  async openLast(preallocateBytes: number): Promise<LogFile | null> {
    for (const log of this.#logs.splice(0, this.#logs.length - 1)) await log.file.close()
    const last = this.#logs[0]
    if (last === undefined) return null
    const allocated = last.isTorn ? last.end : last.size
    return new LogFile(
      last.file,
      { ...last.header, preallocateBytes },
      { end: last.end, allocated },
    )
  }

  async closeAll(): Promise<void> {
    for (const log of this.#logs.splice(0)) await log.file.close()
  }
}

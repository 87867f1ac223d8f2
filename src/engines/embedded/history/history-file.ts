import type { HistoryEntry } from '../../../engine/queries.ts'
import type { Clock, Timer } from '../../../time/clock.ts'
import type { Disk, DiskFile } from '../journal/disk.ts'
import type { EntryVisitor } from './history-book.ts'
import {
  HISTORY_FILE_MAX_BYTES,
  HISTORY_REWRITE_MIN_BYTES,
  HISTORY_WRITE_AFTER_MS,
  HISTORY_WRITE_BYTES,
} from './history-limits.ts'
import { decodeHistory, HistoryRecords } from './history-records.ts'

const NAME = 'history'
const NEW_NAME = 'history.tmp'

export interface HistoryFileOptions {
  readonly clock: Pick<Clock, 'setTimer'>
  /** Everything that is to be in the file when it is written anew, oldest first. */
  readonly visitAll: (visit: EntryVisitor) => void
  readonly rewriteMinBytes?: number | undefined
}

/**
 * Where the history outlives the engine: one file in its directory that is appended to and never synced.
 * It is a convenience, so nothing about it can fail the engine: what is damaged is cut off, and a disk
 * that refuses makes it fall silent.
 */
export class HistoryFile {
  readonly #disk: Disk
  readonly #options: HistoryFileOptions
  readonly #rewriteMinBytes: number
  #file: DiskFile | undefined
  #end = 0
  #rewriteAboveBytes: number
  readonly #gathered = new HistoryRecords()
  #timer: Timer | undefined
  #writing: Promise<void> | undefined

  private constructor(disk: Disk, options: HistoryFileOptions) {
    this.#disk = disk
    this.#options = options
    this.#rewriteMinBytes = options.rewriteMinBytes ?? HISTORY_REWRITE_MIN_BYTES
    this.#rewriteAboveBytes = this.#rewriteMinBytes
  }

  /** Hands over what an earlier engine has left, oldest first. Never rejects. */
  static async open(
    disk: Disk,
    options: HistoryFileOptions,
    restore: (entry: HistoryEntry) => void,
  ): Promise<HistoryFile> {
    const history = new HistoryFile(disk, options)
    try {
      await history.#read(restore)
    } catch {
      await history.#giveUp()
    }
    return history
  }

  /** Appends the entry of these bytes. */
  readonly append: EntryVisitor = (bytes, start, end) => {
    if (this.#file === undefined) return
    this.#gathered.add(bytes, start, end)
    this.#plan()
  }

  /** Writes what is not written yet. Never rejects. */
  async close(): Promise<void> {
    while (this.#writing !== undefined || !this.#gathered.isEmpty) {
      this.#start()
      await this.#writing
    }
    this.#timer?.cancel()
    await this.#giveUp()
  }

  /** Nobody waits for it, so it is written in pieces that are worth a call to the system. */
  #plan(): void {
    if (this.#gathered.length >= HISTORY_WRITE_BYTES) this.#start()
    else this.#timer ??= this.#options.clock.setTimer(HISTORY_WRITE_AFTER_MS, () => this.#start())
  }

  #start(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    if (!this.#gathered.isEmpty) this.#writing ??= this.#write()
  }

  async #read(restore: (entry: HistoryEntry) => void): Promise<void> {
    await this.#disk.remove(NEW_NAME)
    const names = await this.#disk.list()
    if (!names.includes(NAME)) return this.#rewrite()
    const file = await this.#disk.open(NAME, 'buffered')
    this.#file = file
    const size = await file.size()
    const bytes = Buffer.alloc(size > HISTORY_FILE_MAX_BYTES ? 0 : size)
    await file.read(bytes, 0)
    const { entries, end } = decodeHistory(bytes)
    for (const entry of entries) restore(entry)
    if (end === 0 || end > this.#rewriteAboveBytes) return this.#rewrite()
    if (end < size) await file.truncate(end)
    this.#end = end
  }

  async #write(): Promise<void> {
    try {
      const bytes = this.#gathered.take()
      await this.#file?.write(bytes, this.#end)
      this.#end += bytes.length
      if (this.#end > this.#rewriteAboveBytes) await this.#rewrite()
    } catch {
      await this.#giveUp()
    }
    this.#writing = undefined
    if (!this.#gathered.isEmpty) this.#plan()
  }

  /** Leaves out what is no longer of interest, by way of a new file that takes the name of the old. */
  async #rewrite(): Promise<void> {
    // All that was gathered so far is among the entries.
    this.#gathered.clear()
    const all = new HistoryRecords(this.#end / 2)
    all.addHeader()
    this.#options.visitAll((bytes, start, end) => all.add(bytes, start, end))
    const bytes = all.take()
    const next = await this.#disk.create(NEW_NAME, 'buffered')
    await this.#file?.close()
    this.#file = next
    await next.write(bytes, 0)
    await this.#disk.rename(NEW_NAME, NAME)
    this.#end = bytes.length
    this.#rewriteAboveBytes = Math.max(this.#rewriteMinBytes, 2 * bytes.length)
  }

  async #giveUp(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    this.#gathered.clear()
    await file?.close().catch(() => {})
  }
}

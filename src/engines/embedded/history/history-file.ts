import type { HistoryEntry } from '../../../engine/queries.ts'
import type { Disk, DiskFile } from '../journal/disk.ts'
import type { EntryVisitor } from './history-book.ts'
import { HISTORY_FILE_MAX_BYTES, HISTORY_REWRITE_MIN_BYTES } from './history-limits.ts'
import { decodeHistory, HistoryRecords } from './history-records.ts'

const NAME = 'history'
const NEW_NAME = 'history.tmp'

export interface HistoryFileOptions {
  /** Runs a function when the current turn of the event loop is over. */
  readonly defer: (run: () => void) => void
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
    this.#writing ??= new Promise<void>((resolve) => this.#options.defer(resolve)).then(() =>
      this.#write(),
    )
  }

  /** Writes what is not written yet. Never rejects. */
  async close(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
    await this.#giveUp()
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
    this.#writing = this.#gathered.isEmpty ? undefined : this.#write()
  }

  /** Leaves out what is no longer of interest, by way of a new file that takes the name of the old. */
  async #rewrite(): Promise<void> {
    // All that was gathered so far is among the entries.
    this.#gathered.clear()
    const all = new HistoryRecords()
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

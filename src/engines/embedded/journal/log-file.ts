import type { Disk, DiskFile } from './disk.ts'
import { FILE_HEADER_BYTES, encodeFileHeader } from './file-header.ts'
import { journalFileName, temporaryName } from './journal-file-names.ts'

export interface LogFileOptions {
  readonly sequence: number
  readonly salt: number
  readonly preallocateBytes: number
}

/** Where the next frame goes in a log that was recovered, and how long the file is. */
export interface LogFileEnd {
  readonly end: number
  readonly allocated: number
}

/**
 * A log that is open for appending. Between its last frame and its end lie zeros, written ahead so
 * that most appends overwrite blocks that the file already has.
 */
export class LogFile {
  readonly sequence: number
  readonly salt: number
  readonly #file: DiskFile
  readonly #preallocateBytes: number
  #end: number
  #allocated: number

  constructor(file: DiskFile, options: LogFileOptions, at: LogFileEnd) {
    this.#file = file
    this.sequence = options.sequence
    this.salt = options.salt
    this.#preallocateBytes = options.preallocateBytes
    this.#end = at.end
    this.#allocated = at.allocated
  }

  /** Makes an empty log; when this resolves, the file, its header and its name are durable. */
  static async create(disk: Disk, options: LogFileOptions): Promise<LogFile> {
    const name = journalFileName('log', options.sequence)
    await disk.remove(temporaryName(name))
    const file = await disk.create(temporaryName(name), 'synced')
    try {
      const start = Buffer.alloc(FILE_HEADER_BYTES + options.preallocateBytes)
      encodeFileHeader({ ...options, kind: 'log', firstBatch: 0 }).copy(start)
      await file.write(start, 0)
      await disk.rename(temporaryName(name), name)
      await disk.syncDirectory()
      return new LogFile(file, options, { end: FILE_HEADER_BYTES, allocated: start.length })
    } catch (error) {
      await file.close().catch(() => {})
      throw error
    }
  }

  /** Bytes of all frames in this log. */
  get framesBytes(): number {
    return this.#end - FILE_HEADER_BYTES
  }

  /**
   * Writes a frame behind the last one; it is durable when this resolves. One append at a time, and
   * none after one that failed.
   */
  async append(frame: Uint8Array): Promise<void> {
    const end = this.#end + frame.length
    if (end > this.#allocated && frame.length < this.#preallocateBytes) {
      await this.#file.write(Buffer.alloc(this.#preallocateBytes), this.#allocated)
      this.#allocated += this.#preallocateBytes
    }
    await this.#file.write(frame, this.#end)
    this.#end = end
    this.#allocated = Math.max(this.#allocated, end)
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

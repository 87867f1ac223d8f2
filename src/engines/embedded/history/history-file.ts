import { crc32 } from 'node:zlib'
import type { HistoryEntry } from '../../../engine/queries.ts'
import type { Clock, Timer } from '../../../time/clock.ts'
import type { Disk, DiskFile } from '../journal/disk.ts'
import {
  HISTORY_LINE_ENTRIES,
  HISTORY_REST_MS_PER_ENTRY,
  HISTORY_REWRITE_ENTRIES,
  HISTORY_WRITE_AFTER_MS,
} from './history-limits.ts'
import { type KeptEnd, type RecentEnds, toHistoryEntry } from './recent-ends.ts'

const NAME = 'history'
const NEW_NAME = 'history.tmp'

/**
 * Where the history outlives the engine: one file that is appended to and never synced. A line of it is a
 * checksum and some ends as JSON. The file is a convenience, so nothing about it can fail the engine: a line
 * that is torn or damaged is left out, and after an error of the disk nothing more is written.
 */
export class HistoryFile {
  readonly #disk: Disk
  readonly #ends: RecentEnds
  readonly #clock: Pick<Clock, 'setTimer'>
  #file: DiskFile | undefined
  #bytes = 0
  #entries = 0
  /** Ends that the file does not have yet. */
  #waiting: KeptEnd[] = []
  /** Whether too many ends came to wait for the file. */
  #isBehind = false
  #restMs = HISTORY_WRITE_AFTER_MS
  #timer: Timer | undefined
  #writing: Promise<void> | undefined

  private constructor(disk: Disk, ends: RecentEnds, clock: Pick<Clock, 'setTimer'>) {
    this.#disk = disk
    this.#ends = ends
    this.#clock = clock
  }

  /** Adds to `ends` what an earlier engine has left. Never rejects. */
  static async open(
    disk: Disk,
    ends: RecentEnds,
    clock: Pick<Clock, 'setTimer'>,
  ): Promise<HistoryFile> {
    const history = new HistoryFile(disk, ends, clock)
    await history.#read().catch(() => history.#giveUp())
    return history
  }

  /** Takes an end that was just added to the others. */
  add(end: KeptEnd): void {
    if (this.#file === undefined) return
    if (this.#waiting.length < HISTORY_REWRITE_ENTRIES) this.#waiting.push(end)
    else this.#isBehind = true
    if (this.#timer === undefined && this.#writing === undefined) this.#plan()
  }

  /** Writes what is not written yet. Never rejects. */
  async close(): Promise<void> {
    await this.#writing
    if (this.#waiting.length > 0) await this.#write()
    await this.#giveUp()
  }

  #plan(): void {
    this.#timer = this.#clock.setTimer(this.#restMs, () => {
      this.#timer = undefined
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined
        if (this.#waiting.length > 0) this.#plan()
      })
    })
  }

  async #write(): Promise<void> {
    const entries = this.#entries + this.#waiting.length
    const isLong = entries > Math.max(HISTORY_REWRITE_ENTRIES, 2 * this.#ends.size)
    try {
      if (this.#isBehind || isLong) await this.#rewrite()
      else await this.#append(this.#waiting.splice(0))
    } catch {
      await this.#giveUp()
    }
  }

  async #read(): Promise<void> {
    await this.#disk.remove(NEW_NAME)
    const names = await this.#disk.list()
    if (!names.includes(NAME)) return this.#rewrite()
    this.#file = await this.#disk.open(NAME, 'buffered')
    this.#bytes = await this.#file.size()
    const bytes = Buffer.alloc(this.#bytes)
    await this.#file.read(bytes, 0)
    const lines = bytes.toString().split('\n')
    let isSound = lines.pop() === ''
    for (const entries of lines.map(parseLine)) {
      if (entries === undefined) isSound = false
      for (const entry of entries ?? []) this.#ends.add(entry)
      this.#entries += entries?.length ?? 0
    }
    if (!isSound) await this.#rewrite()
  }

  /** Line by line, so that nothing else waits for more than one of them. */
  async #append(ends: readonly KeptEnd[]): Promise<void> {
    for (let at = 0; at < ends.length; at += HISTORY_LINE_ENTRIES) {
      const line = Buffer.from(toLine(ends.slice(at, at + HISTORY_LINE_ENTRIES)))
      await this.#file?.write(line, this.#bytes)
      this.#bytes += line.length
    }
    this.#entries += ends.length
    this.#restMs = Math.max(HISTORY_WRITE_AFTER_MS, ends.length * HISTORY_REST_MS_PER_ENTRY)
  }

  /** Leaves out what is no longer kept, by way of a new file that takes the name of the old. */
  async #rewrite(): Promise<void> {
    const ends = this.#ends.all()
    this.#waiting = []
    this.#isBehind = false
    const file = await this.#disk.create(NEW_NAME, 'buffered')
    await this.#file?.close()
    this.#file = file
    this.#bytes = 0
    this.#entries = 0
    await this.#append(ends)
    await this.#disk.rename(NEW_NAME, NAME)
  }

  async #giveUp(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    this.#waiting = []
    this.#timer?.cancel()
    await file?.close().catch(() => {})
  }
}

function toLine(ends: readonly KeptEnd[]): string {
  const json = JSON.stringify(ends.map(toHistoryEntry))
  return `${crc32(json).toString(16)} ${json}\n`
}

/** `undefined` for a line that is not as it was written. */
function parseLine(line: string): HistoryEntry[] | undefined {
  const [checksum = ''] = line.split(' ', 1)
  const json = line.slice(checksum.length + 1)
  return crc32(json).toString(16) === checksum ? (JSON.parse(json) as HistoryEntry[]) : undefined
}

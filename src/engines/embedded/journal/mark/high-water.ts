import type { Disk } from '../disk.ts'
import { type Mark, writeMark } from './mark-file.ts'

export interface HighWaterOptions {
  /** The mark that was written when the journal was opened. */
  readonly mark: Mark
  /** How many numbers a mark lets the owner give out. */
  readonly numbersPerMark: number
  /** The highest number that the owner has given out. */
  readonly highest: () => number
  /** The last log that exists, and the last batch that is durable in it. */
  readonly end: () => Pick<Mark, 'log' | 'batch'>
}

/**
 * Keeps the mark of a journal that is open; what it promises is in `mark-file.ts`. A new mark is written when
 * half of the numbers are used up, beside the appends: no append waits for it, unless the rest is used up as
 * well before it is durable.
 */
export class HighWater {
  readonly #disk: Disk
  readonly #options: HighWaterOptions
  /** The mark that is durable, or one that was written before it. */
  #mark: Mark
  #renewing: Promise<void> | null = null
  /** After a failure it is not tried again before this number was given out. */
  #renewAbove: number

  constructor(disk: Disk, options: HighWaterOptions) {
    this.#disk = disk
    this.#options = options
    this.#mark = options.mark
    this.#renewAbove = this.#halfWay()
  }

  /** Before a batch is written: waits until no number in it is above the ceiling. Mostly there is nothing to wait for. */
  cover(): Promise<void> | null {
    const highest = this.#options.highest()
    return highest > this.#mark.ceiling ? this.#cover(highest) : null
  }

  /** After a batch was written: sees to it in good time that the numbers do not run out. */
  renewIfDue(): void {
    if (this.#options.highest() <= this.#renewAbove || this.#renewing !== null) return
    this.renew().catch(() => {})
  }

  /** Writes a mark with the present end. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = null
    })
    return this.#renewing
  }

  /** Says where the journal ends for good. Nothing may be appended any more. */
  async close(): Promise<void> {
    await this.#renewing?.catch(() => {})
    const ceiling = this.#options.highest()
    await writeMark(this.#disk, { ...this.#mark, ...this.#options.end(), isClosed: true, ceiling })
  }

  async #cover(highest: number): Promise<void> {
    await this.#renewing?.catch(() => {})
    if (highest > this.#mark.ceiling) await this.renew()
  }

  async #renew(): Promise<void> {
    const { highest, end, numbersPerMark } = this.#options
    const mark = { ...this.#mark, ...end(), ceiling: highest() + numbersPerMark }
    this.#renewAbove = highest() + Math.ceil(numbersPerMark / 8)
    await writeMark(this.#disk, mark)
    this.#mark = mark
    this.#renewAbove = this.#halfWay()
  }

  #halfWay(): number {
    return this.#mark.ceiling - Math.floor(this.#options.numbersPerMark / 2)
  }
}

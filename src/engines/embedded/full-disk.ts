import type { LockError } from '../../engine/errors/errors.ts'
import type { Timer } from '../../time/clock.ts'
import type { Journal } from './journal/journal.ts'
import type { RecoveryClock } from './recovery-clock.ts'
import type { LockTable } from './table/lock-table.ts'

/** How often it is tried whether there is room again. */
const RETRY_MS = 1_000

export interface FullDiskOptions {
  readonly journal: Journal
  readonly clock: RecoveryClock
  /** A table with what is durable and nothing else, every lease at full length. */
  readonly readDurable: () => Promise<LockTable>
  /** Nothing may be decided from now on. */
  readonly onFull: (error: LockError) => void
  /** Everything decided before is durable, and decisions are taken again. */
  readonly onRoom: () => void
  /** The journal has failed for good meanwhile. */
  readonly onFailed: (error: LockError) => void
}

/**
 * What happens to an engine whose disk is full. The table stands still, with what was decided last and is not
 * durable yet: the journal keeps those records and writes them when there is room. The clock of leases
 * stands still too, as it does while a journal is read: no lease ends because its holder could not renew it.
 */
export class FullDisk {
  readonly #options: FullDiskOptions
  #timer: Timer | undefined
  #error: LockError | undefined
  #isStopped = false
  #table: Promise<LockTable> | undefined

  constructor(options: FullDiskOptions) {
    this.#options = options
    options.journal.onFull = (error) => this.#begin(error)
  }

  /** Why nothing can be changed for now; absent while the disk has room. */
  get error(): LockError | undefined {
    return this.#error
  }

  /** What is read from while the disk is full: the table of the engine is ahead of it. */
  get table(): Promise<LockTable> | undefined {
    if (this.#error === undefined) return undefined
    this.#table ??= this.#options.readDurable()
    return this.#table
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  #begin(error: LockError): void {
    this.#error = error
    // The disk may also be full when the engine is closed, which writes, too.
    if (this.#isStopped) return
    this.#options.clock.stop()
    this.#options.onFull(error)
    this.#tryLater()
  }

  #tryLater(): void {
    this.#timer = this.#options.clock.setTimer(RETRY_MS, () => void this.#retry())
  }

  async #retry(): Promise<void> {
    const { journal, clock, onRoom, onFailed } = this.#options
    const hasRoom = await journal.retry()
    if (this.#isStopped) return
    if (hasRoom) {
      this.#error = undefined
      this.#table = undefined
      clock.start()
      onRoom()
    } else if (journal.failure !== null) onFailed(journal.failure)
    else this.#tryLater()
  }
}

import type { LockEngine } from '../engine/engine.ts'
import { createError, type LockError } from '../engine/errors.ts'
import type { Clock } from '../time/clock.ts'
import { RenewalSchedule } from './renewal-schedule.ts'

export interface LocksContextOptions {
  readonly engine: LockEngine
  readonly clock: Clock
  readonly random: () => number
  /** The first part of every owner; nobody else's begins with it. */
  readonly id: string
}

/** What everything that one `Locks` hands out has in common. */
export class LocksContext {
  readonly engine: LockEngine
  readonly clock: Clock
  readonly random: () => number
  readonly schedule: RenewalSchedule
  /** Whether it is of any use to know which task a lock belongs to. */
  readonly tracksTasks: boolean
  readonly #prefix: string
  #owners = 0
  #isClosed = false

  constructor(options: LocksContextOptions) {
    this.engine = options.engine
    this.clock = options.clock
    this.random = options.random
    this.schedule = new RenewalSchedule(options.clock)
    this.tracksTasks = options.engine.capabilities.seesDeadlocks
    this.#prefix = `${options.id}-`
  }

  /** A name that nobody had before. */
  nextOwner(): string {
    this.#owners += 1
    return this.#prefix + this.#owners
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Nothing new from here on; what is held counts as lost, what waits is called off. */
  close(): void {
    this.#isClosed = true
    this.schedule.close()
  }

  closedError(): LockError {
    return createError('LOCK_ENGINE_CLOSED', 'these locks have been closed; connect again')
  }
}

import type { EngineSession, LockEngine } from '../engine/engine.ts'
import { createError, type LockError } from '../engine/errors/errors.ts'
import type { Clock } from '../time/clock.ts'
import type { Refused } from '../law/model/outcomes.ts'
import { type Attempt, createRefusalError } from './request/refusal-errors.ts'
import { RenewalSchedule } from './lease/renewal-schedule.ts'

export interface LocksContextOptions {
  readonly engine: LockEngine
  readonly clock: Clock
  readonly random: () => number
  /** The first part of every owner; no owner of another process begins with it. */
  readonly id: string
  /** Whether locks of one task are known as such. */
  readonly followsTasks: boolean
}

/** What everything that one `Locks` hands out has in common. */
export class LocksContext {
  readonly engine: LockEngine
  /** Of the engine's own connection, where it has one. */
  readonly session: EngineSession | undefined
  readonly clock: Clock
  readonly random: () => number
  readonly schedule: RenewalSchedule
  /** Whether it is of any use to know which task a lock belongs to. */
  readonly tracksTasks: boolean
  readonly #prefix: string
  readonly #unlisten: (() => void) | undefined
  #owners = 0
  #isClosed = false

  constructor(options: LocksContextOptions) {
    this.engine = options.engine
    this.session = options.engine.session
    this.clock = options.clock
    this.random = options.random
    this.schedule = new RenewalSchedule(options.clock)
    this.tracksTasks = options.followsTasks && options.engine.capabilities.seesDeadlocks
    this.#prefix = `${options.id}-`
    this.#unlisten = this.session?.onLoss((loss) => {
      for (const entry of this.schedule.all()) entry.hear?.(loss)
    })
  }

  /** Whether the engine's session can keep such a lease. */
  keeps(terms: { readonly ttlMs: number; readonly renew: boolean }): boolean {
    const { session } = this
    if (session === undefined || !terms.renew) return false
    return terms.ttlMs >= session.ttlMsMin
  }

  /** A name that no owner had before. */
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
    this.#unlisten?.()
    this.schedule.close()
  }

  /** The error of what was refused. */
  refusalError(refused: Refused, attempt: Omit<Attempt, 'wallMs'>): LockError {
    if (this.#isClosed) return this.closedError()
    return createRefusalError(refused, { ...attempt, wallMs: this.clock.wallMs() })
  }

  closedError(): LockError {
    return createError('LOCK_ENGINE_CLOSED', 'these locks have been closed; connect again')
  }
}

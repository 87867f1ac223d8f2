import { createError } from '../../engine/errors/errors.ts'
import type { Release } from '../../law/model/commands.ts'
import type { Granted, OutcomeOf, Refused } from '../../law/model/outcomes.ts'
import type { Mode } from '../../law/model/view.ts'
import type { HeldLock } from './held-lock.ts'
import type { LocksContext } from '../locks-context.ts'
import { RETRY_MS_MIN } from '../options/locks-limits.ts'
import { askEngine } from '../request/ask-engine.ts'
import { requestGrant } from '../request/request-grant.ts'

/** What comes of asking for another mode; only an operation is answered `queued`. */
interface Changed {
  readonly outcome: Granted | Refused
  readonly sentAtMs: number
}

/**
 * The passage of one lock between reading and writing. Most locks never make it, so what it needs to
 * know is kept here. A lock that has passed has a read step and, while it writes, a write step.
 */
export class ModeChanger {
  readonly #lock: HeldLock
  readonly #context: LocksContext
  #hasRead: boolean
  #hasWrite: boolean
  /** An upgrade changes the token before this process hears of it, and its answer may be lost. */
  #isTokenSure = true
  /** The request id of a downgrade that has not been answered. */
  #downgrade: string | undefined = undefined
  #changing: AbortController | undefined = undefined
  #settled: Promise<void> | undefined = undefined

  constructor(lock: HeldLock, context: LocksContext) {
    this.#lock = lock
    this.#context = context
    this.#hasRead = lock.mode === 'read'
    this.#hasWrite = lock.mode === 'write'
  }

  /** Whether commands may name the token that the lock knows. */
  get isTokenSure(): boolean {
    return this.#isTokenSure
  }

  upgrade(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    return this.#change(signal, async (ends) => {
      const lock = this.#lock
      if (lock.mode === 'write') return
      if (this.#hasWrite) await this.#finishDowngrade()
      this.#isTokenSure = false
      const { outcome, sentAtMs } = await this.#request('write', waitMs, ends)
      this.#isTokenSure = true
      if (outcome.kind === 'refused') throw lock.changeError(outcome, 'upgrade', waitMs)
      this.#hasWrite = true
      lock.setMode('write', outcome.token)
      lock.extend(outcome.leaseMs, sentAtMs)
    })
  }

  downgrade(): Promise<void> {
    return this.#change(undefined, async (ends) => {
      const lock = this.#lock
      if (!this.#hasWrite) return
      if (!this.#hasRead) {
        const { outcome } = await this.#request('read', 0, ends)
        if (outcome.kind === 'refused') throw lock.changeError(outcome, 'downgrade', 0)
        this.#hasRead = true
      }
      await this.#finishDowngrade()
    })
  }

  /** Before a release: end a change that is under way, and give up the write step of two. */
  async settle(): Promise<void> {
    if (this.#changing !== undefined) {
      this.#changing.abort()
      await this.#settled
    }
    if (this.#hasRead && this.#hasWrite) await this.#giveUpWriting()
  }

  async #request(mode: Mode, waitMs: number, signal: AbortSignal): Promise<Changed> {
    const request = this.#lock.createRequest(mode, waitMs)
    const { outcome, sentAtMs } = await requestGrant(this.#context, { request, signal })
    return { outcome: outcome as Changed['outcome'], sentAtMs }
  }

  /** One change at a time; a release that comes meanwhile ends its wait. */
  async #change(
    signal: AbortSignal | undefined,
    run: (ends: AbortSignal) => Promise<void>,
  ): Promise<void> {
    if (this.#changing !== undefined) {
      throw createError('LOCK_INVALID_ARGUMENT', `"${this.#lock.key}" is already changing its mode`)
    }
    const changing = new AbortController()
    this.#changing = changing
    const ends = signal === undefined ? changing.signal : AbortSignal.any([signal, changing.signal])
    const change = run(ends).finally(() => {
      this.#changing = undefined
    })
    this.#settled = change.catch(() => undefined)
    await change
  }

  async #finishDowngrade(): Promise<void> {
    const outcome = await this.#giveUpWriting()
    if (outcome.kind === 'refused') throw this.#lock.changeError(outcome, 'downgrade', 0)
  }

  /** Reading as soon as it is sent: from then on others may be reading too. */
  async #giveUpWriting(): Promise<OutcomeOf<Release>> {
    const lock = this.#lock
    lock.setMode('read', lock.token)
    // After a lost answer it is the same request that is sent again.
    this.#downgrade ??= lock.nextId()
    const command = lock.createRelease('write', this.#downgrade)
    const untilMs = this.#context.clock.nowMs() + RETRY_MS_MIN
    const { outcome } = await askEngine(this.#context, { command: () => command, untilMs })
    this.#downgrade = undefined
    this.#hasWrite = false
    return outcome
  }
}

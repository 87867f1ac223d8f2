import { createError } from '../../engine/errors/errors.ts'
import type { Refused, Released } from '../../law/model/outcomes.ts'
import type { HeldLock } from './held-lock.ts'
import type { LocksContext } from '../locks-context.ts'
import { releaseStep } from './release-step.ts'
import { requestGrant } from '../request/request-grant.ts'

/**
 * The passage of one lock between reading and writing. Most locks never make it, so what it needs to
 * know is kept here. A lock that has passed has a read step and, while it writes, a write step.
 */
export class ModeChanger {
  readonly #lock: HeldLock
  readonly #context: LocksContext
  #hasRead: boolean
  #hasWrite: boolean
  /** An upgrade changes the token before anyone here hears of it, and its answer may be lost. */
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
      const request = lock.createRequest('write', waitMs)
      const { outcome, sentAtMs } = await requestGrant(this.#context, request, ends)
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
        const request = lock.createRequest('read', 0)
        const { outcome } = await requestGrant(this.#context, request, ends)
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
  async #giveUpWriting(): Promise<Released | Refused> {
    const lock = this.#lock
    lock.setMode('read', lock.token)
    // After a lost answer it is the same request that is sent again.
    this.#downgrade ??= lock.nextId()
    const command = lock.createRelease('write', this.#downgrade)
    const outcome = await releaseStep(this.#context, command)
    this.#downgrade = undefined
    this.#hasWrite = false
    return outcome
  }
}

import type { SessionLoss } from '../../engine/engine.ts'
import { createError, isLockError, type LockError } from '../../engine/errors/errors.ts'
import { VALUE_BYTES_MAX } from '../../engine/validation/limits.ts'
import { toCancel } from '../../engine/waits/waiting-command.ts'
import type { Begin, Command, Finish } from '../../law/model/commands.ts'
import type { Coordination } from '../../law/model/settings.ts'
import { fromJsonText, toJsonText } from './json-text.ts'
import { Claim } from '../lease/claim.ts'
import type { RenewalAnswer } from '../lease/lease.ts'
import { toLossReason } from '../lease/lost-error.ts'
import type { LocksContext } from '../locks-context.ts'
import type { BeginNowOutcome, OperationHandle, OperationResult } from './operation-handle.ts'
import type { Answered } from '../request/ask-engine.ts'
import { callOff, insistOnGrant, PASSED, requestGrant } from '../request/request-grant.ts'

/** What an operation is asked for with, checked and in milliseconds. */
export interface BeginTerms {
  readonly type: string
  readonly resource: string
  readonly node: string
  readonly version: string | undefined
  readonly ttlMs: number
  /** 0 does not wait and keeps the place in the queue. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
  readonly renew: boolean
  readonly lane: string | undefined
  readonly coordination: Coordination | undefined
  readonly meta: string | undefined
}

/** How an operation ended, with its value as text. */
type Ending = Pick<Finish, 'success' | 'value' | 'error'>

/** One operation of this node, from the moment it is asked for. */
export class HeldOperation extends Claim<BeginTerms> implements OperationHandle {
  #request: Begin
  #finishing: Promise<void> | undefined = undefined

  constructor(context: LocksContext, terms: BeginTerms) {
    super(context, terms)
    const { type, resource, node, version, ttlMs, lane, coordination, meta } = terms
    const requestId = context.nextOwner()
    const session = context.keeps(terms) ? context.session?.id : undefined
    const common = { type, resource, node, version, ttlMs, lane, session, coordination, meta }
    this.#request = { kind: 'begin', requestId, ...common }
  }

  get type(): string {
    return this.terms.type
  }

  get resource(): string {
    return this.terms.resource
  }

  get node(): string {
    return this.terms.node
  }

  /** Ask to run it, and wait for the turn or for the work of another node. */
  async ask(): Promise<BeginNowOutcome> {
    const { waitMs } = this.terms
    const outcome = await this.conclude(this.#ask())
    switch (outcome.kind) {
      case 'granted':
        return { kind: 'acquired', operation: this }
      case 'skip':
        return { kind: 'skipped', value: fromJsonText(outcome.value) }
      case 'dissolved':
        return { kind: 'dissolved', node: outcome.node }
      case 'queued': {
        const withdraw = async (): Promise<void> => void (await this.#withdraw())
        return { kind: 'queued', position: outcome.position, withdraw }
      }
      case 'refused':
        throw this.errorOf(outcome, 'begin', waitMs)
    }
  }

  finish(result: OperationResult): Promise<void> {
    if (this.#finishing !== undefined) return this.#finishing
    const { what } = this.describe()
    if (typeof result?.success !== 'boolean') {
      const text = `finish of ${what} has to be told { success: true } or { success: false }`
      return Promise.reject(createError('LOCK_INVALID_ARGUMENT', text))
    }
    if (!result.success) return this.#finishOnce({ success: false, error: result.error })
    let value: string | undefined
    try {
      value = toJsonText(result.value, { what: `the value of ${what}`, bytesMax: VALUE_BYTES_MAX })
    } catch (error) {
      // Nothing was said to the engine; the operation goes on.
      return Promise.reject(error as LockError)
    }
    return this.#finishOnce({ success: true, value })
  }

  /** Never rejects: it must not take the place of an error that the block itself threw. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await (this.#finishing ?? this.finish({ success: false, error: 'ended without a result' }))
    } catch {
      // The lease ends by itself.
    }
  }

  protected latestRequest(): Begin {
    return this.#request
  }

  protected createEnd(ending: Ending = { success: false }): Finish {
    const { type, resource, node, coordination } = this.terms
    const requestId = `${this.#request.requestId}-end`
    const { token } = this
    return { kind: 'finish', type, resource, node, coordination, requestId, token, ...ending }
  }

  /** A holder that asks again renews its lease. Any answer but a grant means that it does not hold. */
  protected async sendRenewal(ttlMs: number): Promise<RenewalAnswer> {
    const outcome = await this.context.engine.apply({ ...this.#request, ttlMs, waitMs: 0 })
    if (outcome.kind === 'granted' && outcome.token === this.token) {
      return { kind: 'renewed', leaseMs: outcome.leaseMs }
    }
    // If its end was forgotten, the question was taken for a new one.
    await callOff(this.context, this.#request)
    return {
      kind: 'lost',
      reason: outcome.kind === 'refused' ? toLossReason(outcome) : 'not_holder',
    }
  }

  protected isMeant(loss: Extract<SessionLoss, { kind: 'hold' }>): boolean {
    const { namespace, key, token } = loss
    return namespace === 'operation' && key === this.resource && token === this.token
  }

  protected describe(): { readonly what: string; readonly key: string } {
    return { what: `the ${this.type} of "${this.resource}"`, key: this.resource }
  }

  async #ask(): Promise<Answered<Begin>> {
    const { context } = this
    const { waitMs, signal } = this.terms
    const check = (answered: Answered<Begin>): Promise<Answered<Begin>> => this.#locate(answered)
    const answered = await insistOnGrant<Begin>(context, {
      createRequest: (leftMs, isAnew) => this.#createRequest(leftMs, isAnew),
      signal,
      untilMs: context.clock.nowMs() + waitMs,
      check,
    })
    if (answered.outcome.kind !== 'queued' || waitMs === 0) return answered
    // The wait is over. A request that was settled before it could be withdrawn counts as it was settled.
    if (!(await this.#withdraw())) {
      const request = this.#createRequest(0, false)
      const settled = await requestGrant(context, { request, signal, check })
      const { outcome } = settled
      if (outcome.kind !== 'refused' || outcome.code !== 'cancelled') return settled
    }
    const query = { kind: 'inspect', namespace: 'operation', key: this.resource } as const
    const { holders } = await context.engine.read(query)
    return { ...answered, outcome: { kind: 'refused', code: 'timeout', holders } }
  }

  #createRequest(waitMs: number, isAnew: boolean): Begin {
    const requestId = isAnew ? this.context.nextOwner() : this.#request.requestId
    this.#request = { ...this.#request, requestId, waitMs }
    return this.#request
  }

  async #withdraw(): Promise<boolean> {
    const outcome = await this.context.engine.apply<Command>(toCancel(this.#request))
    return outcome.kind === 'cancelled' && outcome.cancelled
  }

  /**
   * A node may be more than one process, and what it runs may be held in the session of another. If it is
   * not held at all any more, it has passed before it was heard of.
   */
  async #locate(answered: Answered<Begin>): Promise<Answered<Begin>> {
    const { outcome } = answered
    const { type, resource, node, session } = this.#request
    if (outcome.kind !== 'granted' || session === undefined) return answered
    const owner = `${type}:${node}`
    const query = { kind: 'standing', key: resource, owner, namespace: 'operation' } as const
    try {
      const { holder } = await this.context.engine.read(query)
      this.keepInSession(holder?.session === session)
      return holder?.token === outcome.token ? answered : { ...answered, outcome: PASSED }
    } catch (error) {
      if (!isLockError(error)) throw error
      const { code, message, details } = error
      throw createError(code, message, { applied: 'maybe', details, cause: error })
    }
  }

  #finishOnce(ending: Ending): Promise<void> {
    this.#finishing = this.#finish(ending)
    return this.#finishing
  }

  async #finish(ending: Ending): Promise<void> {
    if (!this.end() && this.loss !== 'expired' && this.loss !== 'unconfirmed') {
      if (ending.success) throw this.lostError()
      return
    }
    const { outcome } = await this.sendEnd(this.createEnd(ending))
    if (outcome.kind === 'finished') return
    const { code } = outcome
    if (code !== 'not_holder' && code !== 'stale_token') throw this.errorOf(outcome, 'finish')
    this.endedEarly(toLossReason(outcome))
    if (ending.success) throw this.lostError()
  }
}

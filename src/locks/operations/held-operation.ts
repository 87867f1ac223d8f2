import type { SessionLoss } from '../../engine/engine.ts'
import { createError, type LockError } from '../../engine/errors/errors.ts'
import type { Begin, Finish } from '../../law/model/commands.ts'
import { VALUE_BYTES_MAX } from '../../engine/validation/limits.ts'
import type { Granted, OutcomeOf } from '../../law/model/outcomes.ts'
import { toJsonText } from './json-text.ts'
import { Lease, type LeaseTerms, type RenewalAnswer } from '../lease/lease.ts'
import type { LocksContext } from '../locks-context.ts'
import { RETRY_MS_MIN } from '../options/locks-limits.ts'
import { toLossReason } from '../lease/lost-error.ts'
import type { OperationHandle, OperationResult } from './operation-handle.ts'
import { createRefusalError } from '../request/refusal-errors.ts'
import { askAgain, sendInBackground } from '../request/retrying.ts'
import { callOff } from '../request/request-grant.ts'

/** How an operation ended, with its value as text. */
type Ending = Pick<Finish, 'success' | 'value' | 'error'>

export interface HeldOperationOptions {
  /** What it was granted for; asked again, it renews the lease. */
  readonly request: Begin
  readonly terms: LeaseTerms
  readonly granted: Granted
  /** Whether it is held in the engine's session. */
  readonly isInSession: boolean
}

/** One operation that was granted to this node. */
export class HeldOperation extends Lease implements OperationHandle {
  readonly token: number
  readonly #request: Begin
  #finishing: Promise<void> | undefined = undefined

  constructor(context: LocksContext, options: HeldOperationOptions) {
    super(context, options.terms)
    this.#request = { ...options.request, waitMs: 0 }
    this.token = options.granted.token
    if (options.isInSession) this.joinSession()
  }

  get type(): string {
    return this.#request.type
  }

  get resource(): string {
    return this.#request.resource
  }

  get node(): string {
    return this.#request.node
  }

  finish(result: OperationResult): Promise<void> {
    if (this.#finishing !== undefined) return this.#finishing
    if (typeof result?.success !== 'boolean') {
      const text = `finish of ${this.#name} has to be told { success: true } or { success: false }`
      return Promise.reject(createError('LOCK_INVALID_ARGUMENT', text))
    }
    if (!result.success) return this.#finishOnce({ success: false, error: result.error })
    let value: string | undefined
    try {
      value = toJsonText(result.value, {
        what: `the value of ${this.#name}`,
        bytesMax: VALUE_BYTES_MAX,
      })
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

  /** A holder that asks again renews its lease. Whatever else it is answered, it does not hold. */
  protected async sendRenewal(ttlMs: number): Promise<RenewalAnswer> {
    const outcome = await this.context.engine.apply({ ...this.#request, ttlMs })
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

  protected callOff(): void {
    // An operation exists only once it is granted; there is no wait to call off.
  }

  protected isMeant(loss: Extract<SessionLoss, { kind: 'hold' }>): boolean {
    const { namespace, key, token } = loss
    return namespace === 'operation' && key === this.resource && token === this.token
  }

  protected giveBack(): void {
    const { type, resource, node, token } = this
    const finish = { kind: 'finish', type, resource, node, token, success: false } as const
    sendInBackground(this.context, finish).catch(() => {})
  }

  protected describe(): { readonly what: string; readonly key: string } {
    return { what: this.#name, key: this.resource }
  }

  get #name(): string {
    return `the ${this.type} of "${this.resource}"`
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
    const outcome = await this.#send(ending)
    if (outcome.kind === 'finished') return
    if (outcome.code !== 'not_holder' && outcome.code !== 'stale_token') {
      throw createRefusalError(outcome, {
        what: `finish ${this.#name}`,
        key: this.resource,
        wallMs: this.context.clock.wallMs(),
      })
    }
    this.endedEarly(toLossReason(outcome))
    if (ending.success) throw this.lostError()
  }

  async #send(ending: Ending): Promise<OutcomeOf<Finish>> {
    const { engine, clock } = this.context
    const { type, resource, node, coordination, requestId } = this.#request
    const command: Finish = {
      kind: 'finish',
      type,
      resource,
      node,
      coordination,
      requestId: `${requestId}-end`,
      token: this.token,
      success: ending.success,
      value: ending.value,
      error: ending.error,
    }
    const untilMs = clock.nowMs() + RETRY_MS_MIN
    try {
      return await engine.apply(command)
    } catch (error) {
      return this.#sendAgain(command, { error, untilMs })
    }
  }

  async #sendAgain(
    command: Finish,
    { error, untilMs }: { readonly error: unknown; readonly untilMs: number },
  ): Promise<OutcomeOf<Finish>> {
    const { context } = this
    try {
      return (await askAgain({ context, command: () => command, error, untilMs })).outcome
    } catch (failure) {
      this.leaveToOthers()
      throw failure
    }
  }
}

import { createError, isLockError } from '../../engine/errors/errors.ts'
import type { HolderReply } from '../../engine/queries.ts'
import { toWithdrawal } from '../../engine/waits/waiting-command.ts'
import type { Begin, Command } from '../../law/model/commands.ts'
import type { Granted, HolderShown, Refused } from '../../law/model/outcomes.ts'
import type { Coordination } from '../../law/model/settings.ts'
import { HeldOperation } from './held-operation.ts'
import { fromJsonText } from './json-text.ts'
import type { LocksContext } from '../locks-context.ts'
import { RETRY_MS_MIN, UNCONFIRMED_RATIO_MAX } from '../options/locks-limits.ts'
import { createRefusalError } from '../request/refusal-errors.ts'
import type { Scheduled, ScheduleList } from '../lease/renewal-schedule.ts'
import { callOff, isOutOfReach } from '../request/request-grant.ts'
import { type Answered, askAgain, pauseBefore } from '../request/retrying.ts'

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

/** As `BeginNowOutcome`, with the handle as the library itself sees it. */
export type Begun =
  | { readonly kind: 'acquired'; readonly operation: HeldOperation }
  | { readonly kind: 'skipped'; readonly value: unknown }
  | { readonly kind: 'dissolved'; readonly node: string }
  | { readonly kind: 'queued'; readonly position: number; readonly withdraw: () => Promise<void> }

const PASSED: Refused = Object.freeze({ kind: 'refused', code: 'ended', end: 'disconnected' })

/** Ask to run an operation, and wait for the turn or for the work of others. */
export async function beginOperation(context: LocksContext, terms: BeginTerms): Promise<Begun> {
  const asked = new AskedOperation(context, terms)
  context.schedule.park(asked)
  try {
    return await asked.settle()
  } finally {
    context.schedule.remove(asked)
  }
}

/** An operation until it is settled. It is parked in the schedule so that a close reaches it. */
class AskedOperation implements Scheduled {
  dueAtMs = 0
  list: ScheduleList | null = null
  previous: Scheduled | null = null
  next: Scheduled | null = null
  readonly #context: LocksContext
  readonly #terms: BeginTerms
  readonly #untilMs: number
  #request: Begin
  /** Whether what was granted is held in the session of this process. */
  #isInSession = false

  constructor(context: LocksContext, terms: BeginTerms) {
    const { type, resource, node, version, ttlMs, lane, coordination, meta } = terms
    this.#context = context
    this.#terms = terms
    this.#untilMs = context.clock.nowMs() + terms.waitMs
    const requestId = context.nextOwner()
    const session = context.keeps(terms) ? context.session?.id : undefined
    const common = { type, resource, node, version, ttlMs, lane, session, coordination, meta }
    this.#request = { kind: 'begin', requestId, ...common }
  }

  fallDue(): void {
    // It has no time of its own.
  }

  dismiss(): void {
    this.#withdraw().catch(() => undefined)
  }

  async settle(): Promise<Begun> {
    for (let attempt = 1; ; attempt += 1) {
      let answered = await this.#ask(this.#leftMs())
      if (this.#isOld(answered)) answered = await this.#ask(0)
      answered = await this.#locate(answered)
      const { outcome } = answered
      const hasPassed =
        outcome.kind === 'refused' && (outcome.code === 'ended' || isOutOfReach(outcome))
      // A turn or a place that was lost before it was heard of is nobody's refusal.
      if (hasPassed) this.#request = { ...this.#request, requestId: this.#context.nextOwner() }
      const isOpen = hasPassed || outcome.kind === 'queued'
      if (!isOpen || this.#leftMs() === 0 || this.#context.isClosed) {
        return this.#conclude(answered)
      }
      if (hasPassed && !(await this.#pauseBefore(attempt))) return this.#conclude(answered)
    }
  }

  #pauseBefore(attempt: number): Promise<boolean> {
    const untilMs = this.#untilMs
    return pauseBefore(attempt, { context: this.#context, untilMs, signal: this.#terms.signal })
  }

  async #conclude({ outcome, sentAtMs }: Answered<Begin>): Promise<Begun> {
    switch (outcome.kind) {
      case 'granted':
        return { kind: 'acquired', operation: await this.#take(outcome, sentAtMs) }
      case 'skip':
        return { kind: 'skipped', value: fromJsonText(outcome.value) }
      case 'dissolved':
        return { kind: 'dissolved', node: outcome.node }
      case 'refused':
        throw await this.#error(outcome)
      case 'queued':
        if (this.#terms.waitMs > 0) return this.#giveUp()
        return {
          kind: 'queued',
          position: outcome.position,
          withdraw: async () => void (await this.#withdraw()),
        }
    }
  }

  async #take(granted: Granted, sentAtMs: number): Promise<HeldOperation> {
    const context = this.#context
    const operation = new HeldOperation(context, {
      request: this.#request,
      terms: this.#terms,
      granted,
      isInSession: this.#isInSession,
    })
    operation.begin(granted.leaseMs, sentAtMs, context.clock.nowMs())
    if (context.isClosed) {
      await operation[Symbol.asyncDispose]()
      throw context.closedError()
    }
    return operation
  }

  /**
   * A node may be more than one process, and what it runs may be held in the session of another. If it is
   * not held at all any more, it has passed before it was heard of.
   */
  async #locate(answered: Answered<Begin>): Promise<Answered<Begin>> {
    const { outcome } = answered
    const { session } = this.#request
    if (outcome.kind !== 'granted' || session === undefined) return answered
    const holder = await this.#findHolder()
    this.#isInSession = holder?.session === session
    return holder?.token === outcome.token ? answered : { ...answered, outcome: PASSED }
  }

  async #findHolder(): Promise<HolderReply | null> {
    const { type, resource, node } = this.#request
    const owner = `${type}:${node}`
    const query = { kind: 'standing', key: resource, owner, namespace: 'operation' } as const
    try {
      return (await this.#context.engine.read(query)).holder
    } catch (error) {
      void callOff(this.#context, this.#request)
      if (!isLockError(error)) throw error
      const { code, message, details } = error
      throw createError(code, message, { applied: 'maybe', details, cause: error })
    }
  }

  /** The wait is over. A request that was settled before it could be withdrawn counts as it was settled. */
  async #giveUp(): Promise<Begun> {
    if (!(await this.#withdraw())) {
      const answered = await this.#ask(0)
      const { outcome } = answered
      const isWithdrawn = outcome.kind === 'refused' && outcome.code === 'cancelled'
      if (!isWithdrawn) return this.#conclude(answered)
    }
    throw await this.#error({ kind: 'refused', code: 'timeout', holders: await this.#holders() })
  }

  async #ask(waitMs: number): Promise<Answered<Begin>> {
    const { engine, clock } = this.#context
    const { signal } = this.#terms
    const sentAtMs = clock.nowMs()
    try {
      return { outcome: await engine.apply({ ...this.#request, waitMs }, { signal }), sentAtMs }
    } catch (error) {
      return this.#askAgain(error, Math.max(this.#untilMs, sentAtMs + RETRY_MS_MIN))
    }
  }

  async #askAgain(error: unknown, untilMs: number): Promise<Answered<Begin>> {
    const context = this.#context
    const request = this.#request
    const command = (leftMs: number): Begin => ({
      ...request,
      waitMs: this.#terms.waitMs === 0 ? 0 : Math.ceil(leftMs),
    })
    try {
      return await askAgain({ context, command, error, untilMs, signal: this.#terms.signal })
    } catch (failure) {
      if (!isLockError(failure) || failure.applied === 'maybe') void callOff(context, request)
      throw failure
    }
  }

  async #withdraw(): Promise<boolean> {
    const withdrawal = toWithdrawal(this.#request)
    const outcome = await this.#context.engine.apply<Command>(withdrawal)
    return outcome.kind === 'cancelled' && outcome.cancelled
  }

  /** The lease counts from when the request was sent; long ago is not good enough. */
  #isOld({ outcome, sentAtMs }: Answered<Begin>): boolean {
    if (outcome.kind !== 'granted') return false
    return this.#context.clock.nowMs() - sentAtMs > outcome.leaseMs * UNCONFIRMED_RATIO_MAX
  }

  #leftMs(): number {
    return Math.max(0, Math.ceil(this.#untilMs - this.#context.clock.nowMs()))
  }

  async #holders(): Promise<readonly HolderShown[]> {
    const { engine } = this.#context
    const { resource } = this.#terms
    const reply = await engine.read({ kind: 'inspect', namespace: 'operation', key: resource })
    return reply.holders
  }

  async #error(refused: Refused): Promise<Error> {
    if (this.#context.isClosed) return this.#context.closedError()
    const { type, resource, waitMs } = this.#terms
    return createRefusalError(refused, {
      what: `begin the ${type} of "${resource}"`,
      key: resource,
      waitedMs: waitMs,
      wallMs: this.#context.clock.wallMs(),
    })
  }
}

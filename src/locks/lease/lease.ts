import type { SessionLoss } from '../../engine/engine.ts'
import { createError, type LockError } from '../../engine/errors/errors.ts'
import type { Granted } from '../../law/model/outcomes.ts'
import type { LocksContext } from '../locks-context.ts'
import {
  LEASE_MARGIN_MS_MIN,
  LEASE_MARGIN_RATIO,
  RENEW_AFTER_RATIO,
  RENEW_RETRY_MS_MIN,
  RENEW_RETRY_RATIO,
  THREAD_AFTER_HEARTBEATS,
} from '../options/locks-limits.ts'
import { createLostError, type LossReason, toLossReason } from './lost-error.ts'
import type { Scheduled, ScheduleList } from './renewal-schedule.ts'
import type { TaskScope } from '../request/task-context.ts'

/**
 * The holder's own view of how long it may trust what was granted for a time.
 *
 * The states go one way: `asking`, `held`, then `ended` by the holder's own doing or `lost` without it.
 * The deadline moves only when the engine confirms the hold, and counts from when the confirmed request
 * was sent; an error, silence or an answer that says nothing leaves it where it was.
 *
 * There may be a million of these, so every member is one that most of them need.
 */
type LeaseState = 'asking' | 'held' | 'ended' | 'lost'

/**
 * Whether the lease is renewed by itself, and whether a renewal is under way; or the engine's session
 * keeps it.
 */
type RenewalState = 'off' | 'on' | 'sent' | 'session'

/** What the engine says when a hold is renewed; `unclear` is as good as no answer. */
export type RenewalAnswer =
  | { readonly kind: 'renewed'; readonly leaseMs: number }
  | { readonly kind: 'lost'; readonly reason: LossReason }
  | { readonly kind: 'unclear' }

export interface LeaseTerms {
  readonly ttlMs: number
  readonly renew: boolean
}

export abstract class Lease<Terms extends LeaseTerms = LeaseTerms> implements Scheduled {
  dueAtMs = 0
  list: ScheduleList | null = null
  previous: Scheduled | null = null
  next: Scheduled | null = null

  protected readonly context: LocksContext
  protected readonly terms: Terms
  #state: LeaseState = 'asking'
  #renewal: RenewalState
  #deadlineAtMs = 0
  /** When it runs out although its session goes on; 0 for not at all. */
  #leaveAtMs = 0
  /** Heartbeats that were sent before this instant do not count for it. */
  #countsFromMs = 0
  #token = 0
  #scope: TaskScope | undefined = undefined
  #loss: LossReason | undefined = undefined
  #controller: AbortController | undefined = undefined

  constructor(context: LocksContext, terms: Terms) {
    this.context = context
    this.terms = terms
    this.#renewal = terms.renew ? 'on' : 'off'
  }

  /** Ask the engine to make the lease last at least `ttlMs` from now. */
  protected abstract sendRenewal(ttlMs: number): Promise<RenewalAnswer>
  /** The locks are closed while the engine has not answered yet. Never throws. */
  protected abstract callOff(): void
  /** What is not trusted any more may still be held in the session: end it there. Never throws. */
  protected abstract giveBack(): void
  /** Whether the end of a hold that was told is the end of this one. */
  protected abstract isMeant(loss: Extract<SessionLoss, { kind: 'hold' }>): boolean
  /** As in `the write lock on "a"`. */
  protected abstract describe(): { readonly what: string; readonly key: string }
  /** It was asked for inside this scope. */
  protected joinScope(scope: TaskScope | undefined): void {
    this.#scope = scope
    if (scope !== undefined) scope.open += 1
  }

  get token(): number {
    return this.#token
  }

  get isHeld(): boolean {
    return !this.#checkDeadline(this.context.clock.nowMs())
  }

  get remainingMs(): number {
    const nowMs = this.context.clock.nowMs()
    if (this.#renewal === 'session') this.#followSession()
    return this.#checkDeadline(nowMs) ? 0 : this.#deadlineAtMs - nowMs
  }

  /** Made when it is first read: most locks are released without that. */
  get signal(): AbortSignal {
    this.#checkDeadline(this.context.clock.nowMs())
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#state === 'lost') this.#controller.abort(this.lostError())
    }
    return this.#controller.signal
  }

  /** Why it was lost; `undefined` as long as that is not known. */
  get loss(): LossReason | undefined {
    return this.#loss
  }

  /** The engine granted it in answer to what was sent at `sentAtMs`. */
  begin({ token, leaseMs }: Granted, sentAtMs: number, nowMs: number): void {
    this.#state = 'held'
    this.#token = token
    this.extend(leaseMs, sentAtMs)
    if (this.#renewal === 'session') this.#beginInSession(nowMs)
    else this.#scheduleNext(sentAtMs + leaseMs * RENEW_AFTER_RATIO, nowMs)
  }

  /** The engine confirmed it; a deadline never comes closer by that. */
  extend(leaseMs: number, sentAtMs: number): void {
    let deadlineAtMs = lessMargin(sentAtMs, leaseMs)
    if (this.#leaveAtMs > 0) deadlineAtMs = Math.min(deadlineAtMs, this.#leaveAtMs)
    if (deadlineAtMs > this.#deadlineAtMs) this.#deadlineAtMs = deadlineAtMs
  }

  /** Whether it is held in the engine's session, and ends with that. */
  get isInSession(): boolean {
    return this.#renewal === 'session'
  }

  /** Whether the engine's session keeps its lease; to be said before it begins. */
  protected keepInSession(isKept: boolean): void {
    if (isKept) this.#renewal = 'session'
    else if (this.isInSession) this.#renewal = 'on'
  }

  /** Its mode was changed, and so its token. */
  protected replaceToken(token: number): void {
    this.#token = token
  }

  /** The holder is done with it, or never got it. Returns whether it was held until now. */
  end(): boolean {
    const wasHeld = this.#state === 'held'
    if (wasHeld || this.#state === 'asking') {
      this.#state = 'ended'
      this.#leave()
    }
    return wasHeld
  }

  stopRenewing(): void {
    if (this.#renewal === 'session') this.#leaveSession()
    else this.#renewal = 'off'
  }

  /** The session says that something was lost, or that it does not know what was. */
  hear(loss: SessionLoss): void {
    if (this.#state !== 'held' || !this.isInSession) return
    if (loss.kind === 'unknown') {
      this.#followSession()
      this.#countsFromMs = Number.POSITIVE_INFINITY
      this.fallDue(this.context.clock.nowMs())
    } else if (this.isMeant(loss)) {
      this.lose(toLossReason(loss))
    }
  }

  /** Terminal: no later answer of the engine makes this handle a holder again. */
  lose(reason: LossReason): void {
    if (this.#state !== 'held') return
    this.#state = 'lost'
    this.#loss = reason
    this.#leave()
    this.#controller?.abort(this.lostError())
  }

  /** The engine said at its end that it had been lost before. The signal is silent after an end. */
  endedEarly(reason: LossReason): void {
    this.#loss ??= reason
  }

  lostError(details?: Readonly<Record<string, unknown>>): LockError {
    const { what, key } = this.describe()
    const reason = this.#loss ?? 'not_holder'
    return createLostError({ what, key, token: this.token, reason }, details)
  }

  /** Throws unless it is held: `LOCK_LOST`, or `LOCK_NOT_HOLDER` after its own end. */
  assertHeld(): void {
    if (this.isHeld) return
    if (this.#loss !== undefined) throw this.lostError()
    const { what, key } = this.describe()
    throw createError('LOCK_NOT_HOLDER', `${what} has already been released`, { details: { key } })
  }

  /** Renew now, because the holder wants to know. Rejects with the engine's own error or `LOCK_LOST`. */
  async confirm(ttlMs: number): Promise<void> {
    this.assertHeld()
    const sentAtMs = this.context.clock.nowMs()
    this.#take(await this.sendRenewal(ttlMs), sentAtMs)
    if (this.#loss !== undefined) throw this.lostError()
  }

  fallDue(nowMs: number): void {
    if (this.#checkDeadline(nowMs)) return
    if (this.isInSession) this.context.session?.useThread()
    if (this.#renewal === 'on' || this.#countsFromMs === Number.POSITIVE_INFINITY) {
      return void this.#renew(nowMs)
    }
    if (this.isInSession) this.#followSession()
    this.context.schedule.add(this, nowMs, this.#deadlineAtMs - nowMs)
  }

  dismiss(): void {
    if (this.#state === 'asking') this.callOff()
    else this.lose('closed')
  }

  /**
   * Renew the lease, or ask in the session whether it stands. An error says nothing about the hold: the
   * deadline stands, and until there is an answer no heartbeat counts.
   */
  async #renew(sentAtMs: number): Promise<void> {
    if (this.#renewal === 'on') this.#renewal = 'sent'
    this.context.schedule.add(this, sentAtMs, this.#deadlineAtMs - sentAtMs)
    let answer: RenewalAnswer = { kind: 'unclear' }
    try {
      answer = await this.sendRenewal(this.terms.ttlMs)
    } catch {
      // It is tried again.
    }
    // It may have been turned off meanwhile.
    if (this.#renewal === 'sent') this.#renewal = 'on'
    this.#take(answer, sentAtMs)
    if (this.#state !== 'held') return
    const nowMs = this.context.clock.nowMs()
    if (answer.kind === 'renewed') {
      if (this.isInSession) this.#countsFromMs = nowMs
      this.#scheduleNext(sentAtMs + answer.leaseMs * RENEW_AFTER_RATIO, nowMs)
    } else {
      this.#scheduleNext(nowMs + this.#retryDelayMs(nowMs), nowMs)
    }
  }

  #take(answer: RenewalAnswer, sentAtMs: number): void {
    if (this.#state !== 'held') return
    if (answer.kind === 'renewed') this.extend(answer.leaseMs, sentAtMs)
    else if (answer.kind === 'lost') this.lose(answer.reason)
  }

  #retryDelayMs(nowMs: number): number {
    const leftMs = Math.max(0, this.#deadlineAtMs - nowMs)
    const delayMs = leftMs * RENEW_RETRY_RATIO * (0.75 + this.context.random() / 4)
    return Math.max(RENEW_RETRY_MS_MIN, delayMs)
  }

  #scheduleNext(renewAtMs: number, nowMs: number): void {
    const deadlineAtMs = this.#deadlineAtMs
    const atMs = this.#renewal === 'off' ? deadlineAtMs : Math.min(renewAtMs, deadlineAtMs)
    this.context.schedule.add(this, nowMs, atMs - nowMs)
  }

  /** Silence is enough: no answer is needed for the time to be over. Returns whether it is not held. */
  #checkDeadline(nowMs: number): boolean {
    if (this.#state === 'held' && nowMs >= this.#deadlineAtMs) {
      if (this.#renewal === 'session') this.#followSession()
      if (nowMs >= this.#deadlineAtMs) this.#runOut()
    }
    return this.#state !== 'held'
  }

  #runOut(): void {
    const hasLeft = this.#leaveAtMs > 0 && this.#deadlineAtMs >= this.#leaveAtMs
    this.lose(hasLeft || this.#renewal === 'off' ? 'expired' : 'unconfirmed')
    if (this.isInSession) this.#giveBackLater()
  }

  /**
   * The session would keep it for as long as this process lives. The holder has the margin to stop before
   * another owner can have it.
   */
  #giveBackLater(): void {
    this.context.clock.setTimer(marginOf(this.terms.ttlMs), () => this.giveBack())
  }

  /** Most locks end before a blocked main thread could cost them a heartbeat. */
  #beginInSession(nowMs: number): void {
    const { session, schedule } = this.context
    // What the session told before is not known to have been about this hold.
    this.#countsFromMs = nowMs
    this.#followSession()
    const untroubledMs = (session?.heartbeatMs ?? 0) * THREAD_AFTER_HEARTBEATS
    schedule.add(this, nowMs, Math.min(untroubledMs, this.#deadlineAtMs - nowMs))
  }

  /** The deadline moves with every heartbeat that counts. */
  #followSession(): void {
    const confirmedAtMs = this.context.session?.confirmedAtMs ?? 0
    if (confirmedAtMs >= this.#countsFromMs) this.extend(this.terms.ttlMs, confirmedAtMs)
  }

  #leaveSession(): void {
    if (this.#leaveAtMs > 0) return
    const nowMs = this.context.clock.nowMs()
    this.#leaveAtMs = lessMargin(nowMs, this.terms.ttlMs)
    if (this.#state !== 'held') return
    this.#deadlineAtMs = Math.min(this.#deadlineAtMs, this.#leaveAtMs)
    this.context.schedule.add(this, nowMs, this.#deadlineAtMs - nowMs)
  }

  #leave(): void {
    this.context.schedule.remove(this)
    if (this.#scope === undefined) return
    this.#scope.open -= 1
    this.#scope = undefined
  }
}

/** When a holder stops trusting what was granted at `fromMs` for so long. */
function lessMargin(fromMs: number, durationMs: number): number {
  return Math.floor(fromMs + durationMs - marginOf(durationMs))
}

function marginOf(durationMs: number): number {
  return Math.max(LEASE_MARGIN_MS_MIN, durationMs * LEASE_MARGIN_RATIO)
}

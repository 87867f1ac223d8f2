import type { Answer, SessionLoss } from '../../engine/engine.ts'
import type { LockError } from '../../engine/errors/errors.ts'
import type { Acquire, Release } from '../../law/model/commands.ts'
import type { OutcomeOf, Refused } from '../../law/model/outcomes.ts'
import type { Mode } from '../../law/model/view.ts'
import { type AcquireTerms, parseTtl, parseWaitOptions } from '../request/acquire-terms.ts'
import type { Sent } from '../request/ask-engine.ts'
import { insistOnGrant, isFresh } from '../request/request-grant.ts'
import { assertOptions } from '../options/check-options.ts'
import type { Duration } from '../options/durations.ts'
import { Claim } from './claim.ts'
import type { RenewalAnswer } from './lease.ts'
import type { LockHandle } from './lock-handle.ts'
import type { WaitOptions } from '../options/lock-options.ts'
import type { LocksContext } from '../locks-context.ts'
import { toLossReason } from './lost-error.ts'
import type { TaskScope } from '../request/task-context.ts'
import { ModeChanger } from './mode-changer.ts'

const RELEASED: Promise<void> = Promise.resolve()

/**
 * One lock, from the moment it is asked for.
 *
 * The way to a grant and the way back are split into a short part without promises and a long part for
 * everything out of the ordinary, so that `withLock` can go the short way in one function.
 */
export class HeldLock extends Claim<AcquireTerms> implements LockHandle {
  readonly key: string
  readonly owner: string
  /** Undefined for a party of its own. */
  #party: string | undefined = undefined
  /** In front of every request id, where the owner is not this lock's alone. */
  readonly #idPrefix: string
  #requests = 0
  #mode: Mode
  #changer: ModeChanger | undefined = undefined
  #releasing: Promise<unknown> | undefined = undefined
  #isDetached = false

  constructor(context: LocksContext, terms: AcquireTerms, key: string) {
    super(context, terms)
    const own = context.nextOwner()
    this.key = key
    this.owner = terms.owner ?? own
    this.#mode = terms.mode
    this.#idPrefix = terms.owner === undefined ? '' : `${own}-`
    // An owner that others have too may already hold it outside of this session.
    this.keepInSession(terms.owner === undefined && context.keeps(terms))
  }

  get mode(): Mode {
    return this.#mode
  }

  /** The party that this lock counts for when the engine looks for deadlocks. */
  get party(): string {
    return this.#party ?? this.owner
  }

  /** It is asked for inside this scope, and counts for this party. */
  joinTask(scope: TaskScope | undefined, party: string | undefined): void {
    this.joinScope(scope)
    this.#party = party
  }

  /** Send the first request. */
  ask(): Answer<Acquire> {
    const { mode, waitMs, signal } = this.terms
    const request = this.createRequest(mode, waitMs)
    const { engine, schedule } = this.context
    const answer = engine.apply(request, signal === undefined ? undefined : { signal })
    // A close reaches what waits in the schedule.
    if (answer instanceof Promise) schedule.park(this)
    return answer
  }

  /** Take the answer to `ask`, which came at `nowMs`, if it is a grant that can be relied on as it is. */
  accept(outcome: OutcomeOf<Acquire> | undefined, sentAtMs: number, nowMs: number): boolean {
    if (outcome?.kind !== 'granted' || this.context.isClosed) return false
    if (!isFresh(outcome, sentAtMs, nowMs)) return false
    this.begin(outcome, sentAtMs, nowMs)
    return true
  }

  /** Any other answer to `ask`, or none. Resolves to the refusal, if it is one; then this lock has ended. */
  async settle(first: Sent<Acquire>): Promise<Refused | undefined> {
    const { mode, waitMs, signal } = this.terms
    const asking = insistOnGrant<Acquire>(this.context, {
      createRequest: (leftMs, isAnew) =>
        isAnew ? this.createRequest(mode, leftMs) : this.latestRequest(leftMs),
      signal,
      untilMs: first.sentAtMs + waitMs,
      first,
    })
    const outcome = await this.conclude(asking)
    return outcome.kind === 'refused' ? outcome : undefined
  }

  /**
   * Send the release, if it is as simple as that: the lock is held, has one step, and its owner is its
   * own. Else `null`, and it takes a `release`.
   */
  startRelease(): Answer<Release> | null {
    const isSimple =
      this.#releasing === undefined && this.#changer === undefined && this.#idPrefix === ''
    if (!isSimple || this.#isDetached || !this.end()) return null
    const answer = this.context.engine.apply(this.createEnd())
    this.#releasing = answer instanceof Promise ? answer : RELEASED
    return answer
  }

  /** The answer to `startRelease`. */
  finishRelease(outcome: OutcomeOf<Release>): void {
    if (outcome.kind === 'refused') this.endedEarly(toLossReason(outcome))
  }

  /** `startRelease` failed. */
  async recoverRelease(answer: Answer<Release>): Promise<void> {
    try {
      await this.#recoverRelease(this.createEnd(), answer)
    } catch {
      // The lease ends by itself, and what came of the function counts.
    }
  }

  /** The error of a refusal to `ask`. */
  refusalError(refused: Refused): LockError {
    return this.errorOf(refused, 'acquire', this.terms.waitMs)
  }

  async upgrade(options: WaitOptions = {}): Promise<void> {
    assertOptions(options)
    const { waitMs, signal } = parseWaitOptions(options)
    this.assertHeld()
    await this.#changes().upgrade(waitMs, signal)
  }

  async downgrade(): Promise<void> {
    this.assertHeld()
    await this.#changes().downgrade()
  }

  async renew(ttl?: Duration): Promise<void> {
    await this.confirm(parseTtl(ttl, this.terms.ttlMs))
  }

  release(): Promise<void> {
    this.#releasing ??= this.#release()
    return this.#releasing as Promise<void>
  }

  detach(): void {
    this.stopRenewing()
    this.#isDetached = true
  }

  /** Never rejects: it must not take the place of an error that the block itself threw. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isDetached) return
    try {
      await this.release()
    } catch {
      // The lease ends by itself.
    }
  }

  /** A new request; sent again, it is the same request. */
  createRequest(mode: Mode, waitMs: number): Acquire {
    this.#requests += 1
    return this.latestRequest(waitMs, mode)
  }

  createRelease(mode: Mode, requestId: string | undefined): Release {
    const { key, owner } = this
    return { kind: 'release', key, owner, mode, token: this.#sureToken, requestId }
  }

  nextId(): string {
    this.#requests += 1
    return this.#idPrefix + this.#requests
  }

  setMode(mode: Mode, token: number): void {
    this.#mode = mode
    this.replaceToken(token)
  }

  /** The error of a change that was refused. If another owner holds it, the lock is lost. */
  changeError(refused: Refused, verb: string, waitedMs: number): LockError {
    if (refused.code !== 'not_holder' && refused.code !== 'stale_token') {
      return this.errorOf(refused, verb, waitedMs)
    }
    this.lose(toLossReason(refused))
    return this.lostError()
  }

  protected latestRequest(waitMs: number = 0, mode: Mode = this.terms.mode): Acquire {
    const { ttlMs, lane, meta } = this.terms
    return {
      kind: 'acquire',
      key: this.key,
      owner: this.owner,
      requestId: this.#idPrefix + this.#requests,
      mode,
      ttlMs,
      waitMs,
      party: this.#party,
      lane,
      session: this.isInSession ? this.context.session?.id : undefined,
      meta,
    }
  }

  /** An owner of its own needs no request id: its token cannot release another owner's hold. */
  protected createEnd(): Release {
    return this.createRelease(this.#mode, undefined)
  }

  protected async sendRenewal(ttlMs: number): Promise<RenewalAnswer> {
    const { key, owner } = this
    const token = this.#sureToken
    const outcome = await this.context.engine.apply({ kind: 'renew', key, owner, ttlMs, token })
    if (outcome.kind === 'renewed') return outcome
    if (token !== undefined && token !== this.token) return { kind: 'unclear' }
    return { kind: 'lost', reason: toLossReason(outcome) }
  }

  /** An earlier grant of the same owner may have been undone before this one was made. */
  protected isMeant(loss: Extract<SessionLoss, { kind: 'hold' }>): boolean {
    const { namespace, key, owner, token } = loss
    if (namespace !== 'lock' || owner !== this.owner || key !== this.key) return false
    return this.#sureToken === undefined || token === this.#sureToken
  }

  protected describe(): { readonly what: string; readonly key: string } {
    return { what: `the ${this.#mode} lock on "${this.key}"`, key: this.key }
  }

  #changes(): ModeChanger {
    this.#changer ??= new ModeChanger(this, this.context)
    return this.#changer
  }

  get #sureToken(): number | undefined {
    return this.#changer?.isTokenSure === false ? undefined : this.token
  }

  #release(): Promise<void> {
    if (this.end()) return this.#giveUp()
    // What the holder no longer trusts may still stand in the way of others.
    if (this.loss !== 'expired' && this.loss !== 'unconfirmed') return RELEASED
    // It was lost before, so a failure to release it changes nothing.
    return this.#giveUp().catch(() => {})
  }

  async #giveUp(): Promise<void> {
    if (this.#changer !== undefined) await this.#changer.settle()
    const requestId = this.#idPrefix === '' ? undefined : this.nextId()
    const command = this.createRelease(this.#mode, requestId)
    const answer = this.context.engine.apply(command)
    let outcome: OutcomeOf<Release>
    try {
      outcome = await answer
    } catch {
      return this.#recoverRelease(command, answer)
    }
    this.finishRelease(outcome)
  }

  /** The first attempt failed: find out what became of it. */
  async #recoverRelease(command: Release, answer: Answer<Release>): Promise<void> {
    const first = { answer, sentAtMs: this.context.clock.nowMs() }
    const { outcome } = await this.sendEnd(command, first)
    // Without a request id, a refusal means most likely that the first attempt had got through.
    if (command.requestId !== undefined) this.finishRelease(outcome)
  }
}

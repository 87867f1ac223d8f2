import type { SessionLoss } from '../../engine/engine.ts'
import type { LockError } from '../../engine/errors/errors.ts'
import type { Acquire, Release } from '../../law/model/commands.ts'
import type { OutcomeOf, Refused } from '../../law/model/outcomes.ts'
import type { Mode } from '../../law/model/view.ts'
import { type AcquireTerms, parseTtl, parseWait } from '../request/acquire-terms.ts'
import { assertOptions, assertSignal } from '../options/check-options.ts'
import type { Duration } from '../options/durations.ts'
import { Lease, type RenewalAnswer } from './lease.ts'
import type { LockHandle } from './lock-handle.ts'
import type { WaitOptions } from '../options/lock-options.ts'
import type { LocksContext } from '../locks-context.ts'
import { toLossReason } from './lost-error.ts'
import { ModeChanger } from './mode-changer.ts'
import { createRefusalError } from '../request/refusal-errors.ts'
import { releaseAgain } from './release-step.ts'
import {
  callOff,
  type GrantAnswer,
  type GrantRequest,
  insistOnGrant,
  isFresh,
  recoverGrant,
  settleGrant,
} from '../request/request-grant.ts'
import { sendInBackground } from '../request/retrying.ts'
import type { TaskScope } from '../request/task-context.ts'

export interface HeldLockOptions {
  readonly key: string
  /** Undefined for a party of its own. */
  readonly party: string | undefined
  readonly scope: TaskScope | undefined
}

const RELEASED: Promise<void> = Promise.resolve()

/**
 * One lock, from the moment it is asked for.
 *
 * The way to a grant and the way back are split into a short part without promises and a long part for
 * everything out of the ordinary, so that `withLock` can go the short way in one function.
 */
export class HeldLock extends Lease<AcquireTerms> implements LockHandle {
  readonly key: string
  readonly owner: string
  readonly #party: string | undefined
  /** In front of every request id, where the owner is not this lock's alone. */
  readonly #idPrefix: string
  #requests = 0
  #mode: Mode
  #token = 0
  #changer: ModeChanger | undefined = undefined
  #releasing: Promise<unknown> | undefined = undefined
  #isDetached = false

  constructor(context: LocksContext, terms: AcquireTerms, options: HeldLockOptions) {
    super(context, terms, options.scope)
    const own = context.nextOwner()
    this.key = options.key
    this.owner = terms.owner ?? own
    this.#party = options.party
    this.#mode = terms.mode
    this.#idPrefix = terms.owner === undefined ? '' : `${own}-`
    // An owner that others have too may already hold it outside of this session.
    if (context.session !== undefined && terms.owner === undefined && context.keeps(terms)) {
      this.joinSession()
    }
  }

  get mode(): Mode {
    return this.#mode
  }

  get token(): number {
    return this.#token
  }

  /** Whom this lock counts for when the engine looks for deadlocks. */
  get party(): string {
    return this.#party ?? this.owner
  }

  /** Send the first request. */
  ask(): OutcomeOf<Acquire> | Promise<OutcomeOf<Acquire>> {
    const { mode, waitMs, signal } = this.terms
    const request = this.createRequest(mode, waitMs)
    return this.context.engine.apply(request, signal === undefined ? undefined : { signal })
  }

  /** Take the answer to `ask`, which came at `nowMs`, if it is a grant that can be relied on as it is. */
  accept(outcome: OutcomeOf<Acquire>, sentAtMs: number, nowMs: number): boolean {
    if (outcome.kind !== 'granted' || this.context.isClosed) return false
    if (!isFresh(outcome, sentAtMs, nowMs)) return false
    this.#token = outcome.token
    this.begin(outcome.leaseMs, sentAtMs, nowMs)
    return true
  }

  /** Any other answer to `ask`. Resolves to the refusal, if it is one; then this lock has ended. */
  settle(outcome: OutcomeOf<Acquire>, sentAtMs: number): Promise<Refused | undefined> {
    const asked = this.#asked(sentAtMs)
    return this.#conclude(settleGrant(this.context, asked, { outcome, sentAtMs }), sentAtMs)
  }

  /** `ask` failed. Resolves as `settle` does. */
  recover(error: unknown, sentAtMs: number): Promise<Refused | undefined> {
    return this.#conclude(recoverGrant(this.context, this.#asked(sentAtMs), error), sentAtMs)
  }

  /**
   * Send the release, if it is as simple as that: the lock is held, has one step, and its owner is its
   * own. Else `null`, and it takes a `release`.
   */
  startRelease(): OutcomeOf<Release> | Promise<OutcomeOf<Release>> | null {
    const isSimple =
      this.#releasing === undefined && this.#changer === undefined && this.#idPrefix === ''
    if (!isSimple || this.#isDetached || !this.end()) return null
    const releasing = this.context.engine.apply(this.createRelease(this.#mode, undefined))
    this.#releasing = releasing instanceof Promise ? releasing : RELEASED
    return releasing
  }

  /** The answer to `startRelease`. */
  finishRelease(outcome: OutcomeOf<Release>): void {
    if (outcome.kind === 'refused') this.endedEarly(toLossReason(outcome))
  }

  /** `startRelease` failed. Never rejects: it ends without anyone's waiting for it. */
  async recoverRelease(error: unknown): Promise<void> {
    const command = this.createRelease(this.#mode, undefined)
    try {
      this.finishRelease(await this.#releaseAgain(command, error))
    } catch {
      // Whoever runs a function under a lock cares for what came of the function.
    }
  }

  /** The error of a refusal, for whoever asked for this lock. */
  refusalError(refused: Refused): LockError {
    return this.#toError(refused, 'acquire', this.terms.waitMs)
  }

  async upgrade(options: WaitOptions = {}): Promise<void> {
    assertOptions(options)
    const { wait, signal } = options
    const waitMs = parseWait(wait)
    assertSignal(signal)
    this.assertHeld()
    await this.#changes().upgrade(waitMs, signal)
  }

  async downgrade(): Promise<void> {
    this.assertHeld()
    await this.#changes().downgrade()
  }

  async renew(ttl?: Duration): Promise<void> {
    await this.confirm(ttl === undefined ? this.terms.ttlMs : parseTtl(ttl))
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
    return this.#latestRequest(mode, waitMs)
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
    this.#token = token
  }

  /** The error of a change that was refused. If it was refused as a stranger's, the lock is lost. */
  changeError(refused: Refused, verb: string, waitedMs: number): LockError {
    if (refused.code !== 'not_holder' && refused.code !== 'stale_token') {
      return this.#toError(refused, verb, waitedMs)
    }
    this.lose(toLossReason(refused))
    return this.lostError()
  }

  protected async sendRenewal(ttlMs: number): Promise<RenewalAnswer> {
    const { key, owner } = this
    const token = this.#sureToken
    const outcome = await this.context.engine.apply({ kind: 'renew', key, owner, ttlMs, token })
    if (outcome.kind === 'renewed') return outcome
    if (token !== undefined && token !== this.#token) return { kind: 'unclear' }
    return { kind: 'lost', reason: toLossReason(outcome) }
  }

  protected callOff(): void {
    const { mode, waitMs } = this.terms
    void callOff(this.context, this.#latestRequest(mode, waitMs))
  }

  /** An earlier grant of the same owner may have been undone before this one was made. */
  protected isMeant(loss: Extract<SessionLoss, { kind: 'hold' }>): boolean {
    const { namespace, key, owner, token } = loss
    if (namespace !== 'lock' || owner !== this.owner || key !== this.key) return false
    return this.#sureToken === undefined || token === this.#sureToken
  }

  protected giveBack(): void {
    const command = this.createRelease(this.#mode, undefined)
    sendInBackground(this.context, command).catch(() => {})
  }

  protected describe(): { readonly what: string; readonly key: string } {
    return { what: `the ${this.#mode} lock on "${this.key}"`, key: this.key }
  }

  #latestRequest(mode: Mode, waitMs: number): Acquire {
    return {
      kind: 'acquire',
      key: this.key,
      owner: this.owner,
      requestId: this.#idPrefix + this.#requests,
      mode,
      ttlMs: this.terms.ttlMs,
      waitMs,
      party: this.#party,
      lane: this.terms.lane,
      session: this.isInSession ? this.context.session?.id : undefined,
      meta: this.terms.meta,
    }
  }

  #asked(startedAtMs: number): GrantRequest {
    const { mode, waitMs, signal } = this.terms
    return { request: this.#latestRequest(mode, waitMs), signal, startedAtMs }
  }

  async #conclude(
    answering: Promise<GrantAnswer>,
    startedAtMs: number,
  ): Promise<Refused | undefined> {
    const { mode, waitMs, signal } = this.terms
    try {
      const { outcome, sentAtMs, nowMs } = await insistOnGrant(this.context, answering, {
        createRequest: (leftMs) => this.createRequest(mode, leftMs),
        signal,
        untilMs: startedAtMs + waitMs,
      })
      if (outcome.kind === 'refused') {
        this.end()
        return outcome
      }
      this.#token = outcome.token
      this.begin(outcome.leaseMs, sentAtMs, nowMs)
    } catch (error) {
      this.end()
      throw error
    }
    if (!this.context.isClosed) return undefined
    await this[Symbol.asyncDispose]()
    throw this.context.closedError()
  }

  #changes(): ModeChanger {
    this.#changer ??= new ModeChanger(this, this.context)
    return this.#changer
  }

  get #sureToken(): number | undefined {
    return this.#changer?.isTokenSure === false ? undefined : this.#token
  }

  #toError(refused: Refused, verb: string, waitedMs: number): LockError {
    if (this.context.isClosed) return this.context.closedError()
    return createRefusalError(refused, {
      what: `${verb} the ${this.#mode} lock on "${this.key}"`,
      key: this.key,
      waitedMs,
      wallMs: this.context.clock.wallMs(),
    })
  }

  #release(): Promise<void> {
    if (this.end()) return this.#giveUp()
    // What the holder no longer trusts may still stand in the way of others.
    if (this.loss !== 'expired' && this.loss !== 'unconfirmed') return RELEASED
    // It was lost before; that it could not be released is no news.
    return this.#giveUp().catch(() => {})
  }

  async #giveUp(): Promise<void> {
    if (this.#changer !== undefined) await this.#changer.settle()
    // An owner of its own needs no request id: its token cannot release anybody else.
    const requestId = this.#idPrefix === '' ? undefined : this.nextId()
    const command = this.createRelease(this.#mode, requestId)
    const answer = this.context.engine.apply(command)
    let outcome: OutcomeOf<Release>
    try {
      outcome = answer instanceof Promise ? await answer : answer
    } catch (error) {
      outcome = await this.#releaseAgain(command, error)
    }
    this.finishRelease(outcome)
  }

  async #releaseAgain(command: Release, error: unknown): Promise<OutcomeOf<Release>> {
    try {
      return await releaseAgain(this.context, command, error)
    } catch (failure) {
      this.leaveToOthers()
      throw failure
    }
  }
}

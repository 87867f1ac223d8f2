/**
 * What every owner was entitled to believe, and for how long.
 *
 * A hold starts when its owner is told of the grant and runs, by the owner's own arithmetic, until
 * the first of: it gave the hold up (from the call on, whatever the answer), it was told that the
 * hold is gone, or its lease passed, counted from the *call* of the last successful acquire or
 * renewal. Since an engine counts from a later instant, it must not give the key to anybody else
 * within that time. The instants that can end a hold come from `hold-events.ts`.
 */
import type { HistoryRecord } from '../history.ts'
import { partitionBy } from '../linearizability.ts'
import type { HoldEvidence } from './hold-evidence.ts'
import type { EndCause, HoldEvent } from './hold-events.ts'
import { collectHoldEvents } from './hold-events.ts'
import type { GrantedRequest } from './requests/requests.ts'
import { SessionLeases } from './session-leases.ts'

/** A time in which an owner may rely on a mode. */
export interface BeliefWindow {
  readonly mode: 'read' | 'write'
  readonly token: number | undefined
  readonly from: number
  /** Not included. */
  readonly until: number
  /** The grant that opened it. */
  readonly opener: GrantedRequest
}

export interface HoldEnd {
  readonly cause: EndCause
  readonly at: number
  /** The first instant at which the lease may have passed, by what was acknowledged until then. */
  readonly leaseUntil: number
  readonly record: HistoryRecord
}

export interface Hold {
  readonly subject: string
  readonly key: string
  readonly owner: string
  /** Granted requests that made or re-entered it, in the order of their answers. */
  readonly requests: readonly GrantedRequest[]
  /** The first is that of the new hold; each upgrade adds one. */
  readonly tokens: readonly number[]
  /** The engine did not grant it before this instant. */
  readonly earliest: number
  /** The owner knows of it from this instant on. */
  readonly from: number
  /** The first instant at which the owner must stop to rely on it. */
  readonly until: number
  /** `null` if the history shows no end; the lease may have passed all the same. */
  readonly end: HoldEnd | null
  readonly windows: readonly BeliefWindow[]
  /** What the owner expects its counts to be just before the given instant. */
  countsAt(at: number): { readonly reads: number; readonly writes: number }
}

/** All holds of a history, grouped by key and owner. */
export function collectHolds(evidence: HoldEvidence): Hold[] {
  const sessions = new SessionLeases(evidence)
  const events = partitionBy(collectHoldEvents(evidence), (event) => event.track)
  return [...events.values()].flatMap((ofOwner) => trackOwner(ofOwner, sessions))
}

function trackOwner(events: readonly HoldEvent[], sessions: SessionLeases): Hold[] {
  const holds: OpenHold[] = []
  let current: OpenHold | null = null
  for (const event of [...events].sort((a, b) => a.at - b.at)) {
    if (event.kind === 'granted') {
      const replaced: boolean = current !== null && !current.continuesWith(event.request)
      if (replaced) current?.end('replaced', event.at, event.request.answer)
      if (current === null || replaced) {
        current = new OpenHold(event.request, sessions)
        holds.push(current)
      } else {
        current.enter(event.request, event.at)
      }
    } else {
      current?.apply(event)
    }
    if (current?.hasEnded === true) current = null
  }
  return holds.map((hold) => hold.toHold())
}

interface OpenWindow {
  readonly mode: 'read' | 'write'
  readonly token: number | undefined
  readonly from: number
  readonly opener: GrantedRequest
  until: number
}

/** A hold while its owner's story is being read. */
class OpenHold {
  readonly #requests: GrantedRequest[] = []
  readonly #tokens: number[] = []
  readonly #windows: OpenWindow[] = []
  readonly #steps: { at: number; reads: number; writes: number }[] = []
  readonly #counts = { read: 0, write: 0 }
  readonly #sessions: SessionLeases
  readonly #first: GrantedRequest
  #leaseUntil = -Infinity
  #end: HoldEnd | null = null

  constructor(request: GrantedRequest, sessions: SessionLeases) {
    this.#first = request
    this.#sessions = sessions
    this.enter(request, request.answered)
  }

  get hasEnded(): boolean {
    return this.#end !== null
  }

  /**
   * Whether a further grant to the same owner re-entered or upgraded this hold. A new token to who
   * only reads may be either an upgrade or, if the lease can have passed, a new hold: then the
   * counts tell, and without them it is taken as new.
   */
  continuesWith(request: GrantedRequest): boolean {
    const { token, reads } = request.answer
    if (token === undefined || this.#tokens.includes(token)) return true
    const canUpgrade = request.op === 'acquire' && request.mode === 'write'
    if (!canUpgrade || this.#counts.write > 0) return false
    return reads === undefined ? request.answered < this.#lease(request.answered) : reads > 0
  }

  enter(request: GrantedRequest, at: number): void {
    const { token, leaseFrom, ttlMs } = request.answer
    this.#requests.push(request)
    if (token !== undefined && token !== this.#tokens.at(-1)) this.#tokens.push(token)
    const asksAgain = request.op === 'begin' && this.#counts.write > 0
    if (!asksAgain) this.#count(request.mode, 1, at)
    this.#extend(leaseFrom ?? request.earliest, ttlMs ?? request.entries[0]?.ttlMs)
    if (!this.#windows.some(({ mode, until }) => mode === request.mode && until === Infinity)) {
      this.#windows.push({ mode: request.mode, token, from: at, until: Infinity, opener: request })
    }
  }

  apply(event: Exclude<HoldEvent, { kind: 'granted' }>): void {
    const { token } = event
    if (token !== undefined && this.#tokens.length > 0 && !this.#tokens.includes(token)) return
    if (event.kind === 'renewed') this.#extend(event.call, event.ttlMs)
    else if (event.kind === 'left') this.#leave(event)
    else if (event.mode === undefined || this.#counts[event.mode] > 0) {
      this.end(event.cause, event.at, event.record)
    }
  }

  end(cause: EndCause, at: number, record: HistoryRecord): void {
    for (const window of this.#windows) window.until = Math.min(window.until, at)
    this.#end = { cause, at, leaseUntil: this.#lease(at), record }
  }

  toHold(): Hold {
    // A heartbeat that is confirmed after the end comes too late to have been relied on.
    const end = this.#end ?? { at: Infinity, leaseUntil: this.#lease(Infinity) }
    const until = Math.min(end.at, end.leaseUntil)
    const steps = this.#steps
    return {
      subject: this.#first.subject,
      key: this.#first.key,
      owner: this.#first.owner,
      requests: this.#requests,
      tokens: this.#tokens,
      earliest: this.#first.earliest,
      from: this.#first.answered,
      until,
      end: this.#end,
      windows: this.#windows
        .map((window) => ({ ...window, until: Math.min(window.until, until) }))
        .filter((window) => window.from < window.until),
      countsAt: (at) => steps.findLast((step) => step.at < at) ?? { reads: 0, writes: 0 },
    }
  }

  #leave(event: Extract<HoldEvent, { kind: 'left' }>): void {
    const mode = event.mode ?? (this.#counts.write > 0 ? 'write' : 'read')
    if (this.#counts[mode] === 0) return
    this.#count(mode, -1, event.at)
    if (this.#counts[mode] > 0) return
    for (const window of this.#windows) {
      if (window.mode === mode) window.until = Math.min(window.until, event.at)
    }
    if (this.#counts.read + this.#counts.write === 0) this.end('left', event.at, event.record)
  }

  #count(mode: 'read' | 'write', change: number, at: number): void {
    this.#counts[mode] += change
    this.#steps.push({ at, reads: this.#counts.read, writes: this.#counts.write })
  }

  // Stamps are rounded down: the recorder spreads what happens within one millisecond.
  #extend(sentAt: number, ttlMs: number | undefined): void {
    const until = ttlMs === undefined ? Infinity : this.#sessions.deadline(sentAt, ttlMs)
    this.#leaseUntil = Math.max(this.#leaseUntil, until)
  }

  #lease(knownAt: number): number {
    const session = this.#first.entries[0]?.session
    const ttlMs = this.#first.entries[0]?.ttlMs
    if (session === undefined) return this.#leaseUntil
    const since = this.#first.earliest
    const lease = { ttlMs, since, until: this.#leaseUntil, knownAt }
    return this.#sessions.keptUntil(session, lease)
  }
}

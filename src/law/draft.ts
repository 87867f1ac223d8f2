import type { Change, WaiterKept } from './model/changes.ts'
import type { EventKind, LawEvent } from './model/events.ts'
import { ENDED_REMEMBERED_MS } from './model/limits.ts'
import type { Outcome } from './model/outcomes.ts'
import { overlay } from './overlay.ts'
import { ResourceDraft } from './resource-draft.ts'
import type {
  Ended,
  EndedAnswer,
  Hold,
  HoldEnd,
  KeyView,
  Step,
  Verb,
  Waiter,
} from './model/view.ts'

/** What the law answers: what changes, in order; what the asker is told; what watchers are told. */
export interface Decision {
  readonly changes: readonly Change[]
  readonly outcome: Outcome
  readonly events: readonly LawEvent[]
}

type Subject = Pick<Hold, 'owner' | 'operation'>
type Request = Pick<Step, 'requestId' | 'mode' | 'joined'>
type EventFacts = Omit<LawEvent, 'kind' | 'namespace' | 'key' | 'owner' | 'type' | 'node'>

const NO_CHANGES: readonly Change[] = Object.freeze([])
const NO_WAITERS: readonly Waiter[] = Object.freeze([])
const NO_EVENTS: readonly LawEvent[] = Object.freeze([])
const UNDECIDED: Outcome = Object.freeze({ kind: 'swept', count: 0 })

/**
 * A decision in the making: the view, with the changes decided so far laid over it.
 *
 * Rules read and write the draft and never the view alone, so that a grant that follows a release in
 * the same decision sees the released hold gone. One is made for every command, so it is kept small: its
 * fields are ordinary ones, because private ones cost at construction, and what looks up earlier changes
 * is made when first needed. The ordinary acquire and release never need it.
 */
export class Draft implements Decision {
  readonly view: KeyView
  readonly nowMs: number
  changes: readonly Change[] = NO_CHANGES
  events: readonly LawEvent[] = NO_EVENTS
  outcome: Outcome = UNDECIDED

  token: number
  holdCount: number
  writer: Hold | undefined
  queueLength: number
  upgraders: readonly Waiter[]

  /** Holds and waiters that this decision has changed; see `changed`. */
  private index: ChangeIndex | undefined = undefined
  /** By lane: where the search for its head stands. It only ever moves back in the lane. */
  private heads: Waiter[] | undefined = undefined
  private passesNow: number[] | undefined = undefined
  private resourceDraft: ResourceDraft | undefined = undefined

  constructor(view: KeyView, nowMs: number) {
    this.view = view
    this.nowMs = nowMs
    this.token = view.token
    this.holdCount = view.holdCount
    this.writer = view.writer
    this.queueLength = view.queueLength
    this.upgraders = view.upgraders
  }

  /** References and remembered successes, with this decision's changes. */
  get resource(): ResourceDraft {
    this.resourceDraft ??= new ResourceDraft(this.view, (change) => this.change(change))
    return this.resourceDraft
  }

  /** Most decisions make one or two changes: the first is an array of its own size. */
  change(change: Change): void {
    if (this.changes === NO_CHANGES) this.changes = [change]
    else (this.changes as Change[]).push(change)
  }

  hold(owner: string): Hold | undefined {
    if (this.changes.length === 0) return this.view.hold(owner)
    const { holds } = this.changed
    return holds.has(owner) ? holds.get(owner) : this.view.hold(owner)
  }

  holds(): Iterable<Hold> {
    if (this.changes.length === 0) return this.view.holds()
    return overlay(this.view.holds(), this.changed.holds, ({ owner }) => owner)
  }

  /** The index of the changes, brought up to the latest. */
  private get changed(): ChangeIndex {
    this.index ??= new ChangeIndex()
    this.index.update(this.changes)
    return this.index
  }

  setHold(hold: Hold, leaseOnly = false): void {
    if (this.hold(hold.owner) === undefined) this.holdCount += 1
    if (hold.writes > 0) this.writer = hold
    else if (this.writer?.owner === hold.owner) this.writer = undefined
    this.change({ kind: 'hold-set', hold, leaseOnly })
  }

  endHold(hold: Hold, end: HoldEnd): void {
    this.holdCount -= 1
    if (this.writer?.owner === hold.owner) this.writer = undefined
    this.change({ kind: 'hold-ended', hold, end })
  }

  nextToken(): number {
    this.token += 1
    return this.token
  }

  head(lane: number): Waiter | undefined {
    if (this.changes.length === 0) return this.view.head(lane)
    this.heads ??= []
    let waiter = this.heads[lane] ?? this.view.head(lane)
    while (waiter !== undefined) {
      this.heads[lane] = waiter
      if (!this.isGone(waiter)) return waiter
      waiter = this.view.next(waiter)
    }
    return undefined
  }

  waiter(owner: string, requestId: string): Waiter | undefined {
    const waiter = this.view.waiter(owner, requestId)
    if (waiter === undefined || !this.isGone(waiter)) return waiter
    // It may have become an upgrader in this decision.
    return this.upgraders.find((other) => isSame(other, waiter))
  }

  waitersOf(owner: string): readonly Waiter[] {
    const before = this.view.waitersOf(owner)
    if (before.length === 0) return before
    const isOrdinary = before.length === 1 && this.upgraders.length === 0
    if (isOrdinary && before[0]?.upgrade === false) {
      return this.isGone(before[0]) ? NO_WAITERS : before
    }
    const inLanes = before.filter((waiter) => !waiter.upgrade && !this.isGone(waiter))
    return [...this.upgraders.filter((waiter) => waiter.owner === owner), ...inLanes]
  }

  isGone(waiter: Waiter): boolean {
    return this.changes.length > 0 && this.changed.gone.has(waiter)
  }

  /** Where a waiter stands now: behind every upgrader, unless it is one. */
  position(waiter: Waiter): number {
    if (waiter.upgrade) return this.upgraders.findIndex((other) => isSame(other, waiter)) + 1
    const before = this.view.position(waiter)
    let ahead = before - this.view.upgraders.length
    for (const gone of this.changed.gone) {
      if (!gone.upgrade && this.view.position(gone) < before) ahead -= 1
    }
    return this.upgraders.length + ahead
  }

  addWaiter(waiter: Waiter): number {
    this.change({ kind: 'waiter-added', waiter })
    this.queueLength += 1
    if (!waiter.upgrade) return this.positionAtTail(waiter.lane)
    this.upgraders = [...this.upgraders, waiter]
    return this.upgraders.length
  }

  private positionAtTail(lane: number): number {
    if (this.view.settings.lanes.length <= 1) return this.queueLength
    let position = this.upgraders.length + 1
    for (let higher = 0; higher <= lane; higher += 1) position += this.view.laneLength(higher)
    for (const gone of this.changed.gone) {
      if (!gone.upgrade && gone.lane <= lane) position -= 1
    }
    return position
  }

  keepWaiter(before: Waiter, waiter: Waiter): void {
    const change = { kind: 'waiter-kept', before, waiter } as const
    this.change(change)
    if (!isNewUpgrader(change)) return
    this.leaveLane(before)
    this.upgraders = [...this.upgraders, waiter]
  }

  removeWaiter(waiter: Waiter, answer: Outcome): void {
    this.change({ kind: 'waiter-gone', waiter, answer })
    this.queueLength -= 1
    if (waiter.upgrade) this.upgraders = this.upgraders.filter((other) => other !== waiter)
    this.leaveLane(waiter)
  }

  private leaveLane(waiter: Waiter): void {
    if (waiter.upgrade || this.view.settings.lanes.length <= 1) return
    // A lane without waiters is not passed.
    const { lane } = waiter
    if (this.passes(lane) > 0 && this.head(lane) === undefined) this.setPasses(lane, 0)
  }

  passes(lane: number): number {
    return this.passesNow?.[lane] ?? this.view.passes(lane)
  }

  setPasses(lane: number, passes: number): void {
    this.passesNow ??= []
    this.passesNow[lane] = passes
    this.change({ kind: 'lane-passed', lane, passes })
  }

  /**
   * How a request ended, under every id that was answered with it. An operation that names no request id
   * uses its owner's name for every run, so its end must not stand in the way of the next.
   */
  rememberRequest(subject: Subject, request: Request, answer: EndedAnswer): void {
    const { owner, operation } = subject
    const { requestId, mode, joined } = request
    const { nowMs: atMs } = this
    const isVolatile = answer.kind !== 'hold-ended'
    if (operation === undefined || requestId !== owner) {
      this.remember({ verb: 'acquire', owner, requestId, mode, atMs, answer }, isVolatile)
    }
    if (joined === undefined) return
    for (const id of joined) {
      this.remember({ verb: 'acquire', owner, requestId: id, mode, atMs, answer }, isVolatile)
    }
  }

  remember(ended: Ended, volatile: boolean): void {
    this.change({ kind: 'end-remembered', ended, volatile })
  }

  ended(verb: Verb, owner: string, requestId: string): Ended | undefined {
    const hasChanges = this.changes.length > 0
    const now = hasChanges ? this.endedNow(verb, owner, requestId) : undefined
    if (now !== undefined) return now
    const ended = this.view.ended(verb, owner, requestId)
    const isOver = ended !== undefined && ended.atMs + ENDED_REMEMBERED_MS <= this.nowMs
    return isOver ? undefined : ended
  }

  private endedNow(verb: Verb, owner: string, requestId: string): Ended | undefined {
    for (const change of this.changes) {
      if (change.kind !== 'end-remembered') continue
      const { ended } = change
      if (ended.verb === verb && ended.owner === owner && ended.requestId === requestId)
        return ended
    }
    return undefined
  }

  /** How the owner's last hold ended, if that is remembered. */
  lastEnd(owner: string): HoldEnd | undefined {
    let last = this.view.lastEnd(owner)
    for (const change of this.changes) {
      if (change.kind !== 'end-remembered') continue
      const { ended } = change
      if (ended.owner === owner && ended.answer.kind === 'hold-ended') last = ended
    }
    if (last?.answer.kind !== 'hold-ended') return undefined
    return last.atMs + ENDED_REMEMBERED_MS <= this.nowMs ? undefined : last.answer.end
  }

  /** An event about the hold, the waiter or the request of an owner. */
  tell(kind: EventKind, subject: Subject, facts: EventFacts): void {
    const event = toEvent(this.view, kind, { subject, facts })
    if (this.events === NO_EVENTS) this.events = [event]
    else (this.events as LawEvent[]).push(event)
  }

  decided(outcome: Outcome): Decision {
    this.outcome = outcome
    return this
  }
}

/** Nearly all events have one shape, written out, because a spread is slow. */
export function toEvent(
  { namespace, key }: KeyView,
  kind: EventKind,
  { subject, facts }: { readonly subject: Subject; readonly facts: EventFacts },
): LawEvent {
  const { owner, operation } = subject
  const { requestId, mode, token, code, end, session, success } = facts
  const type = operation?.type
  const node = operation?.node
  const what = {
    kind,
    namespace,
    key,
    owner,
    requestId,
    mode,
    token,
    code,
    end,
    session,
    type,
    node,
  }
  return success === undefined ? what : { ...facts, ...what }
}

/** The holds and waiters that the changes of a decision are about. */
class ChangeIndex {
  /** By owner; `undefined` for a hold that ended. */
  readonly holds: Map<string, Hold | undefined> = new Map()
  /** Waiters of the view that have left their place. */
  readonly gone: Set<Waiter> = new Set()
  private length = 0

  update(changes: readonly Change[]): void {
    for (; this.length < changes.length; this.length += 1) {
      const change = changes[this.length]
      if (change?.kind === 'hold-set') this.holds.set(change.hold.owner, change.hold)
      else if (change?.kind === 'hold-ended') this.holds.set(change.hold.owner, undefined)
      else if (change?.kind === 'waiter-gone') this.gone.add(change.waiter)
      else if (change?.kind === 'waiter-kept' && isNewUpgrader(change)) this.gone.add(change.before)
    }
  }
}

/** Whether a waiter leaves its lane because its owner has come to hold the key. */
function isNewUpgrader({ before, waiter }: WaiterKept): boolean {
  return waiter.upgrade && !before.upgrade
}

function isSame(one: Waiter, other: Waiter): boolean {
  return one.owner === other.owner && one.requestId === other.requestId
}

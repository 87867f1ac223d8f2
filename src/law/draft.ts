import type { Change } from './changes.ts'
import type { EventKind, LawEvent } from './events.ts'
import { ENDED_REMEMBERED_MS } from './limits.ts'
import type { Outcome } from './outcomes.ts'
import { ResourceDraft } from './resource-draft.ts'
import type { Ended, Hold, HoldEnd, KeyView, Session, Verb, Waiter } from './view.ts'

/** What the law answers: what changes, in order; what the asker is told; what watchers are told. */
export interface Decision {
  readonly changes: readonly Change[]
  readonly outcome: Outcome
  readonly events: readonly LawEvent[]
}

/**
 * A decision in the making: the view, with the changes decided so far laid over it.
 *
 * Rules read and write the draft and never the view alone, so that a grant that follows a release in
 * the same decision sees the released hold gone. Overlays are made when first needed: the ordinary
 * acquire and release touch one hold and allocate none of them.
 */
export class Draft {
  readonly view: KeyView
  readonly nowMs: number
  readonly changes: Change[] = []
  readonly events: LawEvent[] = []

  token: number
  holdCount: number
  writer: Hold | undefined
  queueLength: number
  upgraders: readonly Waiter[]

  #touchedOwner: string | undefined
  #touchedHold: Hold | undefined
  #touched: Map<string, Hold | undefined> | undefined
  #gone: Set<Waiter> | undefined
  #heads: (Waiter | undefined)[] | undefined
  #passes: number[] | undefined
  #ends = 0
  #resource: ResourceDraft | undefined

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
    this.#resource ??= new ResourceDraft(this.view, this.changes)
    return this.#resource
  }

  hold(owner: string): Hold | undefined {
    if (this.#touched?.has(owner)) return this.#touched.get(owner)
    if (this.#touchedOwner === owner) return this.#touchedHold
    return this.view.hold(owner)
  }

  *holds(): Iterable<Hold> {
    const shown = new Set<string>()
    for (const before of this.view.holds()) {
      const hold = this.hold(before.owner)
      shown.add(before.owner)
      if (hold !== undefined) yield hold
    }
    const made = this.#touchedHold
    if (made !== undefined && !shown.has(made.owner) && !this.#touched?.has(made.owner)) yield made
    for (const hold of this.#touched?.values() ?? []) {
      if (hold !== undefined && !shown.has(hold.owner)) yield hold
    }
  }

  setHold(hold: Hold, leaseOnly = false): void {
    const before = this.hold(hold.owner)
    if (before === undefined) this.holdCount += 1
    if (hold.writes > 0) this.writer = hold
    else if (this.writer?.owner === hold.owner) this.writer = undefined
    this.#touch(hold.owner, hold)
    this.changes.push({ kind: 'hold-set', hold, leaseOnly })
  }

  endHold(hold: Hold, end: HoldEnd): void {
    this.holdCount -= 1
    if (this.writer?.owner === hold.owner) this.writer = undefined
    this.#touch(hold.owner, undefined)
    this.changes.push({ kind: 'hold-ended', hold, end })
  }

  #touch(owner: string, hold: Hold | undefined): void {
    if (this.#touchedOwner === undefined || this.#touchedOwner === owner) {
      this.#touchedOwner = owner
      this.#touchedHold = hold
      this.#touched?.set(owner, hold)
      return
    }
    this.#touched ??= new Map([[this.#touchedOwner, this.#touchedHold]])
    this.#touched.set(owner, hold)
  }

  nextToken(): number {
    this.token += 1
    return this.token
  }

  head(lane: number): Waiter | undefined {
    this.#heads ??= []
    let waiter = lane in this.#heads ? this.#heads[lane] : this.view.head(lane)
    while (waiter !== undefined && this.#gone?.has(waiter)) waiter = this.view.next(waiter)
    this.#heads[lane] = waiter
    return waiter
  }

  waiter(owner: string, requestId: string): Waiter | undefined {
    const waiter = this.view.waiter(owner, requestId)
    if (waiter === undefined || !this.#gone?.has(waiter)) return waiter
    // It may have become an upgrader in this decision.
    return this.upgraders.find((one) => one.owner === owner && one.requestId === requestId)
  }

  waitersOf(owner: string): readonly Waiter[] {
    const before = this.view.waitersOf(owner)
    if (before.length === 0) return before
    const inLanes = before.filter((waiter) => !waiter.upgrade && !this.#gone?.has(waiter))
    return [...this.upgraders.filter((waiter) => waiter.owner === owner), ...inLanes]
  }

  isGone(waiter: Waiter): boolean {
    return this.#gone?.has(waiter) ?? false
  }

  /** Where a waiter stands now: behind every upgrader, unless it is one. */
  position(waiter: Waiter): number {
    if (waiter.upgrade) return this.upgraders.indexOf(waiter) + 1
    const before = this.view.position(waiter)
    let ahead = before - this.view.upgraders.length
    for (const gone of this.#gone ?? []) {
      if (!gone.upgrade && this.view.position(gone) < before) ahead -= 1
    }
    return this.upgraders.length + ahead
  }

  addWaiter(waiter: Waiter): number {
    this.changes.push({ kind: 'waiter-added', waiter })
    this.queueLength += 1
    if (waiter.upgrade) {
      this.upgraders = [...this.upgraders, waiter]
      return this.upgraders.length
    }
    return this.#positionAtTail(waiter.lane)
  }

  #positionAtTail(lane: number): number {
    if (this.view.settings.lanes.length <= 1) return this.queueLength
    let ahead = this.upgraders.length + 1
    for (let higher = 0; higher <= lane; higher += 1) ahead += this.view.laneLength(higher)
    for (const gone of this.#gone ?? []) if (!gone.upgrade && gone.lane <= lane) ahead -= 1
    return ahead
  }

  keepWaiter(before: Waiter, waiter: Waiter): void {
    this.changes.push({ kind: 'waiter-kept', before, waiter })
    if (waiter.upgrade && !before.upgrade) {
      this.#leaveLane(before)
      this.upgraders = [...this.upgraders, waiter]
    }
  }

  removeWaiter(waiter: Waiter, answer: Outcome): void {
    this.changes.push({ kind: 'waiter-gone', waiter, answer })
    this.queueLength -= 1
    if (waiter.upgrade) this.upgraders = this.upgraders.filter((other) => other !== waiter)
    this.#leaveLane(waiter)
  }

  #leaveLane(waiter: Waiter): void {
    this.#gone ??= new Set()
    this.#gone.add(waiter)
    if (waiter.upgrade || this.view.settings.lanes.length <= 1) return
    // Nobody waits there any more, so nobody is being passed.
    const { lane } = waiter
    if (this.passes(lane) > 0 && this.head(lane) === undefined) this.setPasses(lane, 0)
  }

  passes(lane: number): number {
    return this.#passes?.[lane] ?? this.view.passes(lane)
  }

  setPasses(lane: number, passes: number): void {
    this.#passes ??= []
    this.#passes[lane] = passes
    this.changes.push({ kind: 'lane-passed', lane, passes })
  }

  session(id: string | undefined): Session | undefined {
    return id === undefined ? undefined : this.view.session(id)
  }

  remember(ended: Ended, volatile: boolean): void {
    this.#ends += 1
    this.changes.push({ kind: 'end-remembered', ended, volatile })
  }

  ended(verb: Verb, owner: string, requestId: string): Ended | undefined {
    const now = this.#endedNow(verb, owner, requestId)
    if (now !== undefined) return now
    const ended = this.view.ended(verb, owner, requestId)
    const isOver = ended !== undefined && ended.atMs + ENDED_REMEMBERED_MS <= this.nowMs
    return isOver ? undefined : ended
  }

  #endedNow(verb: Verb, owner: string, requestId: string): Ended | undefined {
    if (this.#ends === 0) return undefined
    for (const change of this.changes) {
      if (change.kind !== 'end-remembered') continue
      const { ended } = change
      if (ended.verb === verb && ended.owner === owner && ended.requestId === requestId) {
        return ended
      }
    }
    return undefined
  }

  /** An event that nobody hears is not made. The hottest callers ask `isWatched` themselves. */
  tell(kind: EventKind, about: Omit<LawEvent, 'kind' | 'namespace' | 'key'>): void {
    const { isWatched, namespace, key } = this.view
    if (!isWatched) return
    this.events.push({ kind, namespace, key, ...about })
  }

  decided(outcome: Outcome): Decision {
    return { changes: this.changes, outcome, events: this.events }
  }
}

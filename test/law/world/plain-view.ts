import { ENDED_PER_KEY_MAX } from '../../../src/law/model/limits.ts'
import type { LawSettings } from '../../../src/law/model/settings.ts'
import type {
  Ended,
  Hold,
  KeyView,
  Namespace,
  Reference,
  Remembered,
  Session,
  Verb,
  WaitGraph,
  Waiter,
} from '../../../src/law/model/view.ts'
import { HoldRecord } from './hold-record.ts'

/** Everything there is to know about one key, as plain lists. */
export interface KeyState {
  readonly namespace: Namespace
  readonly key: string
  readonly token: number
  /** In grant order. */
  readonly holds: readonly Hold[]
  /** In arrival order, whatever the lane; upgraders are among them. */
  readonly waiters: readonly Waiter[]
  /** Oldest first. */
  readonly ended: readonly Ended[]
  readonly passes: readonly number[]
  /** In the order in which the nodes came. */
  readonly references: readonly Reference[]
  readonly remembered: readonly Remembered[]
}

/** What a view needs of everything that is not its key. */
export interface Surroundings {
  readonly settings: LawSettings
  readonly graph: WaitGraph | undefined
  session(id: string): Session | undefined
  /**
   * A view may show more as due than is. With this on, everything is shown, so that a law that
   * trusts the look-up instead of the moments is found out.
   */
  readonly showsAllAsDue: boolean
}

export function emptyKey(namespace: Namespace, key: string): KeyState {
  return {
    namespace,
    key,
    token: 0,
    holds: [],
    waiters: [],
    ended: [],
    passes: [],
    references: [],
    remembered: [],
  }
}

/** The last remembered ends of a key, the newest of each request. */
export function rememberEnd(ended: readonly Ended[], latest: Ended): readonly Ended[] {
  const others = ended.filter((entry) => !isSameRequest(entry, latest))
  return [...others, latest].slice(-ENDED_PER_KEY_MAX)
}

function isSameRequest(left: Ended, right: Ended): boolean {
  return (
    left.verb === right.verb && left.owner === right.owner && left.requestId === right.requestId
  )
}

/** When something is to be done about a hold, if nothing happens until then. */
function holdMomentMs(hold: Hold): number {
  return Math.min(hold.leaseAtMs, ...hold.steps.map((step) => step.claimByMs ?? Infinity))
}

function waiterMomentMs(waiter: Waiter): number {
  return Math.min(waiter.leaseAtMs, waiter.deadlineAtMs)
}

function toRecord(hold: Hold | undefined): Hold | undefined {
  return hold && new HoldRecord(hold)
}

function toRecords(holds: readonly Hold[]): readonly Hold[] {
  return holds.map((hold) => new HoldRecord(hold))
}

/** A view that looks everything up in plain lists, slowly and obviously. */
export class PlainView implements KeyView {
  readonly #state: KeyState
  readonly #around: Surroundings

  constructor(state: KeyState, around: Surroundings) {
    this.#state = state
    this.#around = around
  }

  get namespace(): Namespace {
    return this.#state.namespace
  }

  get key(): string {
    return this.#state.key
  }

  get settings(): LawSettings {
    return this.#around.settings
  }

  get graph(): WaitGraph | undefined {
    return this.#around.graph
  }

  get token(): number {
    return this.#state.token
  }

  get holdCount(): number {
    return this.#state.holds.length
  }

  get writer(): Hold | undefined {
    return toRecord(this.#state.holds.find((hold) => hold.writes > 0))
  }

  hold(owner: string): Hold | undefined {
    return toRecord(this.#state.holds.find((hold) => hold.owner === owner))
  }

  holds(): Iterable<Hold> {
    return toRecords(this.#state.holds)
  }

  get queueLength(): number {
    return this.#state.waiters.length
  }

  get upgraders(): readonly Waiter[] {
    return this.#state.waiters.filter((waiter) => waiter.upgrade)
  }

  #lane(lane: number): readonly Waiter[] {
    return this.#state.waiters.filter((waiter) => !waiter.upgrade && waiter.lane === lane)
  }

  #neighbours(waiter: Waiter): readonly Waiter[] {
    return waiter.upgrade ? this.upgraders : this.#lane(waiter.lane)
  }

  #indexAmong(waiters: readonly Waiter[], waiter: Waiter): number {
    return waiters.findIndex(
      (other) => other.owner === waiter.owner && other.requestId === waiter.requestId,
    )
  }

  head(lane: number): Waiter | undefined {
    return this.#lane(lane)[0]
  }

  next(waiter: Waiter): Waiter | undefined {
    const neighbours = this.#neighbours(waiter)
    return neighbours[this.#indexAmong(neighbours, waiter) + 1]
  }

  position(waiter: Waiter): number {
    return this.#indexAmong(servingOrder(this.#state.waiters), waiter) + 1
  }

  laneLength(lane: number): number {
    return this.#lane(lane).length
  }

  waiter(owner: string, requestId: string): Waiter | undefined {
    return this.#state.waiters.find(
      (waiter) => waiter.owner === owner && waiter.requestId === requestId,
    )
  }

  waitersOf(owner: string): readonly Waiter[] {
    return this.#state.waiters.filter((waiter) => waiter.owner === owner)
  }

  passes(lane: number): number {
    return this.#state.passes[lane] ?? 0
  }

  hasDue(nowMs: number): boolean {
    const isForgotten = this.#state.remembered.some((entry) => entry.untilMs <= nowMs)
    const due = [this.dueHolds(nowMs), this.dueWaiters(nowMs), this.dueReferences(nowMs)]
    return isForgotten || due.some((list) => list.length > 0)
  }

  dueHolds(nowMs: number): readonly Hold[] {
    return toRecords(this.#state.holds)
      .filter((hold) => this.#around.showsAllAsDue || holdMomentMs(hold) <= nowMs)
      .toSorted((left, right) => holdMomentMs(left) - holdMomentMs(right))
  }

  dueWaiters(nowMs: number): readonly Waiter[] {
    return this.#state.waiters
      .filter((waiter) => this.#around.showsAllAsDue || waiterMomentMs(waiter) <= nowMs)
      .toSorted((left, right) => waiterMomentMs(left) - waiterMomentMs(right))
  }

  session(id: string): Session | undefined {
    return this.#around.session(id)
  }

  holdsIn(session: string): Iterable<Hold> {
    return toRecords(this.#state.holds.filter((hold) => hold.session === session))
  }

  waitersIn(session: string): Iterable<Waiter> {
    return this.#state.waiters.filter((waiter) => waiter.session === session)
  }

  ended(verb: Verb, owner: string, requestId: string): Ended | undefined {
    return this.#state.ended.find(
      (entry) => entry.verb === verb && entry.owner === owner && entry.requestId === requestId,
    )
  }

  lastEnd(owner: string): Ended | undefined {
    return this.#state.ended.findLast(
      (entry) => entry.owner === owner && entry.answer.kind === 'hold-ended',
    )
  }

  get referenceCount(): number {
    return this.#state.references.length
  }

  reference(node: string): Reference | undefined {
    return this.#state.references.find((reference) => reference.node === node)
  }

  references(): Iterable<Reference> {
    return this.#state.references
  }

  dueReferences(nowMs: number): readonly Reference[] {
    return this.#state.references.filter(
      ({ claimByMs }) => this.#around.showsAllAsDue || (claimByMs ?? Infinity) <= nowMs,
    )
  }

  remembered(type: string): Remembered | undefined {
    return this.#state.remembered.find((entry) => entry.type === type)
  }

  everyRemembered(): Iterable<Remembered> {
    return this.#state.remembered
  }

  waitersOfType(type: string): Iterable<Waiter> {
    return this.#state.waiters.filter((waiter) => waiter.operation?.type === type)
  }
}

/** Upgraders, then lane by lane, each in arrival order. */
export function servingOrder(waiters: readonly Waiter[]): readonly Waiter[] {
  const rank = (waiter: Waiter): number => (waiter.upgrade ? -1 : waiter.lane)
  return waiters.toSorted((left, right) => rank(left) - rank(right))
}

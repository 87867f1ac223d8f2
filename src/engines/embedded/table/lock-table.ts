import { unreachable } from '../../../law/assert.ts'
import type { Change } from '../../../law/model/changes.ts'
import type { KeyCommand, Leave } from '../../../law/model/commands.ts'
import type { Decision, Law } from '../../../law/decide.ts'
import type { Outcome } from '../../../law/model/outcomes.ts'
import type { LawSettings } from '../../../law/model/settings.ts'
import type { KnownNames } from '../../../engine/validation/validate.ts'
import type { Ended, Hold, Namespace, Session, Waiter } from '../../../law/model/view.ts'
import { DueHeap } from './due-heap.ts'
import { EndedMemory } from './ended-memory.ts'
import { countEvent, createTally, type EventTally } from './event-tally.ts'
import { fnv1a } from '../fnv1a.ts'
import { Groups } from './groups.ts'
import type { HoldRecord } from './hold-record.ts'
import { KeyState } from './key-state.ts'
import { KeysWithEnds } from './keys-with-ends.ts'
import { PartyGraph } from './party-graph.ts'
import { ResourceState } from './resource-state.ts'
import { SessionRecord } from './session-record.ts'
import { Shard } from '../shard.ts'
import { WaiterRecord } from './waiter-record.ts'

/** Who is told what happens in the table: the engine, which journals, answers and shows it. */
export interface TableListener {
  /** After the changes of a decision were applied, with the instant it was made for. */
  decided(state: KeyState, decision: Decision, nowMs: number): void
  /** A waiter left, with the answer to its request. Comes after `decided`. */
  settled(waiter: WaiterRecord, answer: Outcome): void
  /** A session is over and has nothing left. */
  sessionEnded(id: string): void
}

export interface TableOptions {
  readonly law: Law
  readonly settings: LawSettings
  readonly shards: number
}

/**
 * All locks, operations and sessions of an engine, in memory. It shows the law a key, applies what the law
 * decides, and keeps the indexes by which what is due, who waits and what a session has are found.
 */
export class LockTable implements KnownNames {
  readonly settings: LawSettings
  readonly shards: readonly Shard[]
  readonly locks: Map<string, KeyState> = new Map()
  readonly resources: Map<string, ResourceState> = new Map()
  readonly sessions: Map<string, SessionRecord> = new Map()
  readonly parties: PartyGraph = new PartyGraph()
  readonly heap: DueHeap = new DueHeap()
  /** What came due on the one key that is being decided on. */
  due: DueOnKey | undefined = undefined
  readonly withEnds: KeysWithEnds = new KeysWithEnds()
  /** Which resources a node references. */
  readonly nodes: Groups<string, ResourceState> = new Groups()
  holdCount = 0
  waiterCount = 0
  referenceCount = 0
  /** Ends of requests that are kept, of all keys together. */
  endedCount = 0
  /** The events that were decided so far. */
  readonly events: EventTally = { lock: createTally(), operation: createTally() }
  listener: TableListener = { decided: () => {}, settled: () => {}, sessionEnded: () => {} }
  readonly #law: Law
  #isTorn = false
  /** The lock that was looked up last: a command's names are checked first, then it is decided on. */
  #latest: KeyState | undefined

  constructor(options: TableOptions) {
    this.#law = options.law
    this.settings = options.settings
    this.shards = Array.from({ length: options.shards }, (_, index) => new Shard(this, index))
  }

  /** The state of a lock, made if there is none; an idle one is forgotten again when it is decided on. */
  lock(key: string): KeyState {
    let state = this.#find(key)
    if (state === undefined) {
      state = new KeyState(this.shardOf(key), key)
      this.locks.set(key, state)
    }
    return state
  }

  #find(key: string): KeyState | undefined {
    if (this.#latest?.key === key) return this.#latest
    const state = this.locks.get(key)
    if (state !== undefined) this.#latest = state
    return state
  }

  /** The same for a resource. */
  resource(key: string): ResourceState {
    let state = this.resources.get(key)
    if (state === undefined) {
      state = new ResourceState(this.shardOf(key), key)
      this.resources.set(key, state)
    }
    return state
  }

  /** Every key here, and every owner that holds one, was found to be well formed when it came. */
  known(key: string, owner: string): 'both' | 'key' | undefined {
    const state = this.#find(key)
    if (state === undefined) return undefined
    return state.hold(owner) === undefined ? 'key' : 'both'
  }

  forget(state: KeyState): void {
    if (state instanceof ResourceState) this.resources.delete(state.key)
    else this.locks.delete(state.key)
    if (state === this.#latest) this.#latest = undefined
  }

  /** Looked up only when a key is new: its state knows its shard. */
  shardOf(key: string): Shard {
    return this.shards[fnv1a(key) % this.shards.length] as Shard
  }

  /** Every key that is kept. */
  *states(namespace?: Namespace): Iterable<KeyState> {
    if (namespace !== 'operation') yield* this.locks.values()
    if (namespace !== 'lock') yield* this.resources.values()
  }

  /**
   * Whether what was decided is not, or not wholly, in the table and with the listener: something was thrown
   * on the way. Then nothing that the table says may be believed any more.
   */
  get isTorn(): boolean {
    return this.#isTorn
  }

  /** Decide on one key and apply what was decided. */
  decide(state: KeyState, command: KeyCommand, nowMs: number): Outcome {
    const decision = this.#law(state, command, nowMs)
    this.#isTorn = true
    const settled = this.apply(state, decision.changes)
    this.rest(state)
    for (const event of decision.events) countEvent(this.events, event)
    this.listener.decided(state, decision, nowMs)
    if (settled !== undefined) {
      for (const { waiter, answer } of settled) this.listener.settled(waiter, answer)
    }
    this.#isTorn = false
    return decision.outcome
  }

  /** An idle key costs nothing of its own once its ends are forgotten. */
  rest(state: KeyState): void {
    if (state.endings === undefined && state.isIdle) this.forget(state)
  }

  forgetEnds(state: KeyState): void {
    this.endedCount -= state.endings?.size ?? 0
    state.endings = undefined
    this.rest(state)
  }

  /** Apply changes, in order. Returns the waiters that left, with their answers. */
  apply(state: KeyState, changes: readonly Change[]): readonly Settled[] | undefined {
    let settled: Settled[] | undefined
    for (const change of changes) {
      const one = this.#applyOne(state, change)
      if (one === undefined) continue
      if (settled === undefined) settled = [one]
      else settled.push(one)
    }
    return settled
  }

  #applyOne(state: KeyState, change: Change): Settled | undefined {
    switch (change.kind) {
      case 'hold-set':
        this.#setHold(state, change.hold)
        return undefined
      case 'hold-ended':
        this.#dropHold(state, change.hold.owner)
        return undefined
      case 'waiter-added':
        this.#addWaiter(state, change.waiter)
        return undefined
      case 'waiter-kept':
        this.#keepWaiter(state, change.waiter)
        return undefined
      case 'waiter-gone':
        return this.#dropWaiter(state, change.waiter, change.answer)
      case 'end-remembered':
        this.#remember(state, change.ended)
        return undefined
      case 'lane-passed':
        state.queue?.setPasses(change.lane, change.passes)
        return undefined
      case 'reference-set':
      case 'reference-dropped':
      case 'success-remembered':
      case 'success-forgotten':
        if (state instanceof ResourceState) this.#applyToResource(state, change)
        return undefined
      default:
        return unreachable(change)
    }
  }

  #setHold(state: KeyState, hold: Hold): void {
    const before = state.holdCount
    const record = state.setHold(hold)
    if (state.holdCount > before) {
      this.holdCount += 1
      this.#sessionOf(record)?.holds.add(record)
    }
    if (hold.token > state.shard.token) state.shard.token = hold.token
    this.heap.update(record)
  }

  #dropHold(state: KeyState, owner: string): void {
    const record = state.dropHold(owner)
    if (record === undefined) return
    this.holdCount -= 1
    this.heap.remove(record)
    const session = this.#sessionOf(record)
    session?.holds.delete(record)
    // The last hold of a silent client: the session is due, and ends.
    if (session?.heapIndex === -1 && session.holds.size === 0) this.heap.update(session)
  }

  #sessionOf({ session }: Hold | Waiter): SessionRecord | undefined {
    return session === undefined ? undefined : this.sessions.get(session)
  }

  #addWaiter(state: KeyState, waiter: Waiter): void {
    const record = state.addWaiter(waiter)
    this.waiterCount += 1
    this.heap.update(record)
    if (state.graph !== undefined) this.parties.add(record)
    const session = this.#sessionOf(record)
    session?.waiters.add(record)
    if (session?.heapIndex === -1) this.heap.update(session)
  }

  #keepWaiter(state: KeyState, waiter: Waiter): void {
    const record = state.waiter(waiter.owner, waiter.requestId)
    if (record === undefined) return
    record.connected = waiter.connected
    record.deadlineAtMs = waiter.deadlineAtMs
    record.leaseAtMs = waiter.leaseAtMs
    record.joined = waiter.joined
    if (waiter.upgrade && !record.upgrade) state.queue?.toUpgrader(record)
    this.heap.update(record)
  }

  #dropWaiter(state: KeyState, waiter: Waiter, answer: Outcome): Settled | undefined {
    // Mostly the law was shown the record itself; one that it has changed meanwhile is a copy.
    const isRecord = waiter instanceof WaiterRecord
    const record = isRecord ? waiter : state.waiter(waiter.owner, waiter.requestId)
    if (record === undefined) return undefined
    state.queue?.remove(record)
    this.waiterCount -= 1
    this.heap.remove(record)
    if (state.graph !== undefined) this.parties.remove(record)
    this.#sessionOf(record)?.waiters.delete(record)
    return { waiter: record, answer }
  }

  #remember(state: KeyState, ended: Ended): void {
    if (state.endings === undefined) {
      state.endings = new EndedMemory()
      this.withEnds.add(state, ended.atMs, ended.owner)
    }
    if (state.endings.add(ended)) this.endedCount += 1
  }

  #applyToResource(state: ResourceState, change: ResourceChange): void {
    switch (change.kind) {
      case 'reference-set':
        this.referenceCount -= state.referenceCount
        state.setReference(change.reference)
        this.referenceCount += state.referenceCount
        this.nodes.add(change.reference.node, state)
        this.heap.update(state)
        break
      case 'reference-dropped':
        this.#dropReference(state, change.node)
        break
      case 'success-remembered':
        state.remember(change.remembered)
        this.heap.update(state)
        break
      case 'success-forgotten':
        state.forget(change.type)
        this.heap.update(state)
        break
      default:
        unreachable(change)
    }
  }

  #dropReference(state: ResourceState, node: string): void {
    this.referenceCount -= state.referenceCount
    state.dropReference(node)
    this.referenceCount += state.referenceCount
    this.heap.update(state)
    this.nodes.delete(node, state)
  }

  /** Set a session's record, making it if it is new. */
  setSession(session: Session): void {
    let record = this.sessions.get(session.id)
    if (record === undefined) {
      record = new SessionRecord(session)
      this.sessions.set(session.id, record)
    } else {
      record.assign(session)
    }
    this.heap.update(record)
  }

  /** End a session and, key by key, what it had: at once, as a journal that is read wants it. */
  endSession(id: string, nowMs: number): void {
    const record = this.sessions.get(id)
    if (record === undefined) return
    record.hasEnded = true
    const states = new Set([...record.holds, ...record.waiters].map((one) => one.state))
    for (const state of states) this.leaveOn(state, { session: id }, nowMs)
    this.forgetSession(record)
  }

  /**
   * A session has ended, or its client was silent for the grace: a key of it decides what that means there.
   * Returns how many holds and waiters ended; as many as `atMost` where there may be more.
   */
  leaveOn(state: KeyState, leave: Omit<Leave, 'kind'>, nowMs: number): number {
    const outcome = this.decide(state, { kind: 'leave', ...leave }, nowMs)
    return outcome.kind === 'swept' ? outcome.count : 0
  }

  /** A session that has nothing left costs nothing. One that is silent stays for as long as it has holds. */
  forgetSession(record: SessionRecord): void {
    if (record.holds.size > 0 || this.sessions.get(record.id) !== record) return
    this.heap.remove(record)
    this.sessions.delete(record.id)
    this.listener.sessionEnded(record.id)
  }
}

/** What came due on one key, soonest first. */
export interface DueOnKey {
  readonly state: KeyState
  readonly holds: HoldRecord[]
  readonly waiters: WaiterRecord[]
}

export interface Settled {
  readonly waiter: WaiterRecord
  readonly answer: Outcome
}

type ResourceChange = Extract<
  Change,
  | { kind: 'reference-set' }
  | { kind: 'reference-dropped' }
  | { kind: 'success-remembered' }
  | { kind: 'success-forgotten' }
>

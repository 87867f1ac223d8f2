import type { LawSettings } from '../../../law/model/settings.ts'
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
} from '../../../law/model/view.ts'
import type { EndedMemory } from './ended-memory.ts'
import { HoldRecord } from './hold-record.ts'
import { KeyQueue } from './key-queue.ts'
import type { Shard } from '../shard.ts'
import { WaiterRecord } from './waiter-record.ts'

const NOTHING: readonly never[] = Object.freeze([])

/**
 * One key as the table keeps it, and the law's view of it. What a key does not need it does not have: a
 * single hold stands alone, the queue and the memory are made when first used.
 */
export class KeyState implements KeyView {
  readonly shard: Shard
  readonly key: string
  #held: HoldRecord | Map<string, HoldRecord> | undefined
  queue: KeyQueue | undefined
  endings: EndedMemory | undefined

  constructor(shard: Shard, key: string) {
    this.shard = shard
    this.key = key
  }

  get namespace(): Namespace {
    return 'lock'
  }

  get settings(): LawSettings {
    return this.shard.table.settings
  }

  get token(): number {
    return this.shard.token
  }

  /** Nothing that would be missed if the key were forgotten, apart from the ends of requests. */
  get isIdle(): boolean {
    return this.#held === undefined && (this.queue === undefined || this.queue.length === 0)
  }

  get holdCount(): number {
    if (this.#held === undefined) return 0
    return this.#held instanceof HoldRecord ? 1 : this.#held.size
  }

  get writer(): HoldRecord | undefined {
    const held = this.#held
    if (held === undefined) return undefined
    if (held instanceof HoldRecord) return held.writes > 0 ? held : undefined
    if (held.size > 1) return undefined
    for (const hold of held.values()) if (hold.writes > 0) return hold
    return undefined
  }

  hold(owner: string): HoldRecord | undefined {
    const held = this.#held
    if (held === undefined) return undefined
    if (held instanceof HoldRecord) return held.owner === owner ? held : undefined
    return held.get(owner)
  }

  holds(): Iterable<HoldRecord> {
    if (this.#held === undefined) return NOTHING
    return this.#held instanceof HoldRecord ? [this.#held] : this.#held.values()
  }

  /** Change the owner's hold in place, or make one. */
  setHold(hold: Hold): HoldRecord {
    const known = this.hold(hold.owner)
    if (known !== undefined) {
      known.assign(hold)
      return known
    }
    const record = new HoldRecord(this, hold)
    if (this.#held === undefined) this.#held = record
    else if (this.#held instanceof HoldRecord) {
      this.#held = new Map([
        [this.#held.owner, this.#held],
        [record.owner, record],
      ])
    } else this.#held.set(record.owner, record)
    return record
  }

  dropHold(owner: string): HoldRecord | undefined {
    const record = this.hold(owner)
    if (this.#held instanceof Map) {
      this.#held.delete(owner)
      if (this.#held.size === 0) this.#held = undefined
    } else if (record !== undefined) {
      this.#held = undefined
    }
    return record
  }

  get queueLength(): number {
    return this.queue?.length ?? 0
  }

  get upgraders(): readonly Waiter[] {
    return this.queue?.upgraders ?? NOTHING
  }

  head(lane: number): Waiter | undefined {
    return this.queue?.head(lane)
  }

  next(waiter: Waiter): Waiter | undefined {
    return waiter instanceof WaiterRecord ? waiter.behind : undefined
  }

  position(waiter: Waiter): number {
    return waiter instanceof WaiterRecord ? (this.queue?.position(waiter) ?? 0) : 0
  }

  laneLength(lane: number): number {
    return this.queue?.laneLength(lane) ?? 0
  }

  waiter(owner: string, requestId: string): WaiterRecord | undefined {
    return this.queue?.waiter(owner, requestId)
  }

  waitersOf(owner: string): readonly WaiterRecord[] {
    return this.queue?.waitersOf(owner) ?? NOTHING
  }

  waitersOfType(type: string): Iterable<WaiterRecord> {
    return this.queue?.waitersOfType(type) ?? NOTHING
  }

  passes(lane: number): number {
    return this.queue?.passes(lane) ?? 0
  }

  addWaiter(waiter: Waiter): WaiterRecord {
    this.queue ??= new KeyQueue(Math.max(1, this.settings.lanes.length))
    const record = new WaiterRecord(this, waiter)
    this.queue.add(record)
    return record
  }

  hasDue(): boolean {
    return this.shard.table.due?.state === this
  }

  /** The table collects what came due, for the key it is about to decide on. */
  dueHolds(): Iterable<Hold> {
    return this.hasDue() ? (this.shard.table.due?.holds ?? NOTHING) : NOTHING
  }

  dueWaiters(): Iterable<Waiter> {
    return this.hasDue() ? (this.shard.table.due?.waiters ?? NOTHING) : NOTHING
  }

  session(id: string): Session | undefined {
    const session = this.shard.table.sessions.get(id)
    return session?.hasEnded === false ? session : undefined
  }

  /** A session may hold ten thousand keys, and a key may have as many holds: the fewer are looked at. */
  *holdsIn(session: string): Iterable<Hold> {
    const holds = this.shard.table.sessions.get(session)?.holds
    if (holds === undefined) return
    for (const hold of holds.size < this.holdCount ? holds : this.holds()) {
      if (hold.state === this && hold.session === session) yield hold
    }
  }

  *waitersIn(session: string): Iterable<Waiter> {
    const waiters = this.shard.table.sessions.get(session)?.waiters
    if (waiters === undefined) return
    for (const waiter of waiters.size < this.queueLength ? waiters : (this.queue ?? NOTHING)) {
      if (waiter.state === this && waiter.session === session) yield waiter
    }
  }

  ended(verb: Verb, owner: string, requestId: string): Ended | undefined {
    return this.endings?.find(verb, owner, requestId)
  }

  lastEnd(owner: string): Ended | undefined {
    return this.endings?.lastEnd(owner)
  }

  get graph(): WaitGraph | undefined {
    return this.shard.table.parties
  }

  get referenceCount(): number {
    return 0
  }

  reference(_node: string): Reference | undefined {
    return undefined
  }

  references(): Iterable<Reference> {
    return NOTHING
  }

  dueReferences(_nowMs: number): Iterable<Reference> {
    return NOTHING
  }

  remembered(_type: string): Remembered | undefined {
    return undefined
  }

  everyRemembered(): Iterable<Remembered> {
    return NOTHING
  }
}

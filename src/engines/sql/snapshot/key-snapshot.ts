import type { Selectable } from 'kysely'
import type { Change } from '../../../law/model/changes.ts'
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
  Waiter,
} from '../../../law/model/view.ts'
import { EndsSnapshot } from './ends-snapshot.ts'
import { HoldsSnapshot } from './holds-snapshot.ts'
import { MissingPart } from './missing-part.ts'
import { QueueSnapshot } from './queue-snapshot.ts'
import { ResourceSnapshot } from './resource-snapshot.ts'
import { dueAtMsOfHold, dueAtMsOfWaiter, type PlacedWaiter, toPasses } from './row-codec.ts'
import type { KeyTable } from '../schema/schema.ts'
import type { KeyName } from '../sql-dialect.ts'

/** What a decision needs to know beside the key itself. */
export interface SnapshotContext {
  readonly settings: LawSettings
  /** Tokens of keys that were removed are at most this. */
  readonly floor: number
  /** Those that were looked up, by id; `undefined` for one that does not exist. */
  readonly sessions: Map<string, Session | undefined>
}

/** A waiter that left in a decision, with what it is to be told. */
export interface Departure {
  readonly waiter: PlacedWaiter
  readonly answer: Extract<Change, { kind: 'waiter-gone' }>['answer']
}

/**
 * One key as it stands in the tables, as far as it was loaded, with the changes of this transaction laid
 * over it. It is the law's view, and it knows afterwards what has to be written.
 */
export class KeySnapshot implements KeyView {
  readonly id: number
  /** Of the row, as it was locked. */
  version: number
  readonly namespace: Namespace
  readonly key: string
  #context: SnapshotContext
  readonly held: HoldsSnapshot
  readonly queue: QueueSnapshot
  readonly resource: ResourceSnapshot
  readonly ends: EndsSnapshot = new EndsSnapshot()
  readonly #passes: number[]
  #storedDueAtMs: number | null
  /** The soonest moment of what this transaction has changed. */
  #changedDueAtMs = Infinity
  token: number
  /** When it was last decided on here. */
  decidedAtMs = 0
  isChanged = false

  constructor(row: Selectable<KeyTable>, context: SnapshotContext) {
    this.id = row.id
    this.version = row.version
    this.namespace = row.space
    this.key = row.name
    this.#context = context
    this.token = Math.max(row.token, context.floor)
    this.held = new HoldsSnapshot(row.holds, row.writer)
    this.queue = new QueueSnapshot(row.waiters, row.next_place)
    this.resource = new ResourceSnapshot(row.refs, row.successes)
    this.#passes = toPasses(row.passes)
    this.#storedDueAtMs = row.due_at_ms
  }

  /** The key was locked again, and nobody has changed it since the transaction before. */
  reopen(context: SnapshotContext): void {
    this.#context = context
  }

  /** All of it was written. What is known now is what the tables hold. */
  commit(nowMs: number, dueAtMs: number | null): void {
    if (this.isChanged) this.version += 1
    this.decidedAtMs = nowMs
    this.isChanged = false
    this.#storedDueAtMs = dueAtMs
    this.#changedDueAtMs = Infinity
    this.ends.commit(nowMs, this.version)
    this.held.commit()
    this.queue.commit()
    this.resource.commit()
  }

  get name(): KeyName {
    return { space: this.namespace, name: this.key }
  }

  /** All of its holds and waiters are loaded. */
  get isWhole(): boolean {
    return this.held.isWhole && this.queue.loaded.isWhole
  }

  /** Those of its holds and waiters, as far as these are loaded. */
  sessions(): string[] {
    const parts = [...this.held.known(), ...this.queue.known]
    return parts.flatMap(({ session }) => session ?? [])
  }

  get storedDueAtMs(): number | null {
    return this.#storedDueAtMs
  }

  get settings(): LawSettings {
    return this.#context.settings
  }

  get holdCount(): number {
    return this.held.count
  }

  get writer(): Hold | undefined {
    return this.held.writer
  }

  hold(owner: string): Hold | undefined {
    return this.held.find(owner)
  }

  holds(): Iterable<Hold> {
    return this.held.all()
  }

  get queueLength(): number {
    return this.queue.length
  }

  get upgraders(): readonly Waiter[] {
    return this.queue.length === 0 ? [] : this.queue.upgraders
  }

  head(lane: number): Waiter | undefined {
    return this.queue.head(lane)
  }

  next(waiter: Waiter): Waiter | undefined {
    return this.queue.next(waiter)
  }

  position(waiter: Waiter): number {
    return this.queue.position(waiter)
  }

  laneLength(lane: number): number {
    return this.queue.laneLength(lane)
  }

  waiter(owner: string, requestId: string): Waiter | undefined {
    return this.queue.waiter(owner, requestId)
  }

  waitersOf(owner: string): readonly Waiter[] {
    return this.queue.waitersOf(owner)
  }

  passes(lane: number): number {
    return this.#passes[lane] ?? 0
  }

  get everyPass(): readonly number[] {
    return this.#passes
  }

  /** The row knows the soonest moment, and what has changed since is known by itself. */
  hasDue(nowMs: number): boolean {
    if (this.#storedDueAtMs !== null && this.#storedDueAtMs <= nowMs) return true
    if (this.namespace === 'operation') return this.isChanged
    return this.#changedDueAtMs <= nowMs
  }

  dueHolds(nowMs: number): Iterable<Hold> {
    return this.held.due(nowMs)
  }

  dueWaiters(nowMs: number): Iterable<Waiter> {
    return this.queue.due(nowMs)
  }

  session(id: string): Session | undefined {
    const { sessions } = this.#context
    if (!sessions.has(id)) throw new MissingPart({ kind: 'session', id })
    return sessions.get(id)
  }

  holdsIn(session: string): Iterable<Hold> {
    return this.held.inSession(session)
  }

  waitersIn(session: string): Iterable<Waiter> {
    return this.queue.waitersIn(session)
  }

  ended(verb: Verb, owner: string, requestId: string): Ended | undefined {
    return this.ends.find(verb, owner, requestId)
  }

  lastEnd(owner: string): Ended | undefined {
    return this.ends.lastOf(owner)
  }

  /** Nobody sees all keys in one step here: a wait that closes a cycle runs into its deadline. */
  readonly graph = undefined

  get referenceCount(): number {
    return this.resource.referenceCount
  }

  reference(node: string): Reference | undefined {
    return this.resource.reference(node)
  }

  references(): Iterable<Reference> {
    return this.resource.references()
  }

  dueReferences(nowMs: number): Iterable<Reference> {
    return this.resource.dueReferences(nowMs)
  }

  remembered(type: string): Remembered | undefined {
    return this.resource.remembered(type)
  }

  everyRemembered(): Iterable<Remembered> {
    return this.resource.everyRemembered()
  }

  waitersOfType(type: string): Iterable<Waiter> {
    return this.queue.waitersOfType(type)
  }

  /**
   * Lay the changes of a decision over what was loaded. `asker` is whoever holds a call open for the
   * request that was decided on, if anybody does. Returns the waiters that left.
   */
  apply(changes: readonly Change[], asker: Asker | undefined): Departure[] {
    if (changes.length > 0) this.isChanged = true
    return changes.flatMap((change) => this.#applyOne(change, asker) ?? [])
  }

  #applyOne(change: Change, asker: Asker | undefined): Departure | undefined {
    switch (change.kind) {
      case 'hold-set':
        this.held.set(change.hold)
        this.#noteDue(dueAtMsOfHold(change.hold))
        this.token = Math.max(this.token, change.hold.token)
        return undefined
      case 'hold-ended':
        this.held.end(change.hold, change.end)
        return undefined
      case 'waiter-added':
        this.queue.add(change.waiter, processOf(change.waiter, asker, undefined))
        this.#noteDue(dueAtMsOfWaiter(change.waiter))
        return undefined
      case 'waiter-kept': {
        const { process } = change.before as PlacedWaiter
        this.queue.keep(change.before, change.waiter, processOf(change.waiter, asker, process))
        this.#noteDue(dueAtMsOfWaiter(change.waiter))
        return undefined
      }
      case 'waiter-gone':
        return { waiter: this.queue.remove(change.waiter), answer: change.answer }
      case 'end-remembered':
        this.ends.add(change.ended)
        return undefined
      case 'lane-passed':
        this.#passes[change.lane] = change.passes
        return undefined
      default:
        this.resource.apply(change)
        return undefined
    }
  }

  #noteDue(atMs: number): void {
    this.#changedDueAtMs = Math.min(this.#changedDueAtMs, atMs)
  }

  /** Nothing of it would be missed. */
  isEmpty(nowMs: number): boolean {
    const { held, queue, resource } = this
    if (held.count + queue.length + resource.referenceCount + resource.successCount > 0)
      return false
    return this.ends.untilMs(nowMs) === null
  }
}

/** Who holds a call open for a request. */
export interface Asker {
  readonly owner: string
  /** Absent for an operation, which has one standing whatever its request id. */
  readonly requestId: string | undefined
  /** `undefined`: nobody does any more. */
  readonly process: string | undefined
}

function processOf(
  { owner, requestId }: Waiter,
  asker: Asker | undefined,
  before: string | undefined,
): string | undefined {
  const isAsker = asker?.owner === owner && (asker.requestId ?? requestId) === requestId
  return isAsker ? asker.process : before
}

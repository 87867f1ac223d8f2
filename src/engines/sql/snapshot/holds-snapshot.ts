import type { Hold, HoldEnd } from '../../../law/model/view.ts'
import { MissingPart } from './missing-part.ts'
import { dueAtMsOfHold, type PlacedWaiter, type UntakenStep } from './row-codec.ts'

/** A hold that ended in this transaction. */
export interface EndedHold {
  readonly hold: Hold
  readonly end: HoldEnd
}

/** The holds of a key, as far as they were loaded. */
export class HoldsSnapshot {
  count: number
  writerOwner: string | null
  isWhole: boolean
  hasDue = false
  readonly sessions: Set<string> = new Set()
  /** By owner; `undefined` for one that is known not to hold. */
  readonly #holds = new Map<string, Hold | undefined>()
  #sorted: readonly Hold[] | undefined
  /** Owners whose holds are new, or changed, and of those that ended. */
  readonly added: Set<string> = new Set()
  readonly changed: Set<string> = new Set()
  readonly gone: Set<string> = new Set()
  readonly ends: EndedHold[] = []

  constructor(count: number, writerOwner: string | null) {
    this.count = count
    this.writerOwner = writerOwner
    this.isWhole = count === 0
  }

  /** Take rows from the table. Those that a decision has touched already stay as it left them. */
  take(holds: Iterable<Hold>): void {
    for (const hold of holds) {
      if (!this.#holds.has(hold.owner)) this.#put(hold.owner, hold)
    }
  }

  /** All there are have been taken. */
  takeWhole(): void {
    this.isWhole = true
  }

  /** There is no hold of this owner in the table. */
  takeAbsence(owner: string): void {
    if (!this.#holds.has(owner)) this.#put(owner, undefined)
  }

  find(owner: string): Hold | undefined {
    if (!this.isWhole && !this.#holds.has(owner)) throw new MissingPart({ kind: 'hold', owner })
    return this.#holds.get(owner)
  }

  get writer(): Hold | undefined {
    return this.writerOwner === null ? undefined : this.find(this.writerOwner)
  }

  /** In grant order. */
  all(): readonly Hold[] {
    this.#need(this.isWhole, { kind: 'holds' })
    return this.known()
  }

  /** Those that are loaded, in grant order. */
  known(): readonly Hold[] {
    this.#sorted ??= [...this.#holds.values()]
      .filter((hold) => hold !== undefined)
      .sort((one, other) => one.token - other.token)
    return this.#sorted
  }

  due(nowMs: number): Hold[] {
    this.#need(this.hasDue, { kind: 'due-holds' })
    const due = this.known().filter((hold) => dueAtMsOfHold(hold) <= nowMs)
    return due.sort((one, other) => dueAtMsOfHold(one) - dueAtMsOfHold(other))
  }

  inSession(session: string): Hold[] {
    this.#need(this.sessions.has(session), { kind: 'holds-in', session })
    return this.known().filter((hold) => hold.session === session)
  }

  set(hold: Hold): void {
    const { owner } = hold
    const isNew = this.#holds.get(owner) === undefined
    if (isNew) this.count += 1
    // One that ended in the same transaction still has its row.
    if (isNew && !this.gone.delete(owner)) this.added.add(owner)
    else if (!this.added.has(owner)) this.changed.add(owner)
    this.#put(owner, hold)
    if (hold.writes > 0) this.writerOwner = hold.owner
    else if (this.writerOwner === hold.owner) this.writerOwner = null
  }

  /** A waiter was granted: it is told by whoever holds its call open. */
  noteTeller({ owner, requestId, process: teller }: PlacedWaiter): void {
    const hold = this.#holds.get(owner)
    if (hold === undefined || teller === undefined) return
    const steps = hold.steps.map((step) =>
      step.requestId === requestId && step.claimByMs !== null ? { ...step, teller } : step,
    )
    this.#put(owner, { ...hold, steps })
  }

  /** The processes that have to tell an owner of grants: of one request, or of all. */
  tellersOf(owner: string, requestId: string | undefined): string[] {
    const steps: readonly UntakenStep[] = this.find(owner)?.steps ?? []
    return steps
      .filter((step) => requestId === undefined || step.requestId === requestId)
      .flatMap(({ teller }) => teller ?? [])
  }

  end(hold: Hold, end: HoldEnd): void {
    this.#put(hold.owner, undefined)
    this.count -= 1
    this.changed.delete(hold.owner)
    if (!this.added.delete(hold.owner)) this.gone.add(hold.owner)
    if (this.writerOwner === hold.owner) this.writerOwner = null
    this.ends.push({ hold, end })
  }

  /** All of it was written. Whoever does not hold is not kept in mind. */
  commit(): void {
    this.added.clear()
    this.changed.clear()
    this.gone.clear()
    this.ends.length = 0
    this.hasDue = false
    for (const [owner, hold] of this.#holds) if (hold === undefined) this.#holds.delete(owner)
  }

  #put(owner: string, hold: Hold | undefined): void {
    this.#holds.set(owner, hold)
    this.#sorted = undefined
  }

  #need(isLoaded: boolean, part: MissingPart['part']): void {
    if (!isLoaded && !this.isWhole) throw new MissingPart(part)
  }
}

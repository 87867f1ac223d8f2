import type { Hold, HoldEnd } from '../../law/view.ts'
import { MissingPart } from './missing-part.ts'
import { dueAtMsOfHold } from './row-codec.ts'

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
      if (!this.#holds.has(hold.owner)) this.#holds.set(hold.owner, hold)
    }
  }

  /** All there are have been taken. */
  takeWhole(): void {
    this.isWhole = true
  }

  /** There is no hold of this owner in the table. */
  takeAbsence(owner: string): void {
    if (!this.#holds.has(owner)) this.#holds.set(owner, undefined)
  }

  find(owner: string): Hold | undefined {
    if (!this.isWhole && !this.#holds.has(owner)) throw new MissingPart({ kind: 'hold', owner })
    return this.#holds.get(owner)
  }

  get writer(): Hold | undefined {
    return this.writerOwner === null ? undefined : this.find(this.writerOwner)
  }

  /** In grant order. */
  all(): Hold[] {
    this.#need(this.isWhole, { kind: 'holds' })
    return this.known()
  }

  /** Those that are loaded, in grant order. */
  known(): Hold[] {
    const holds = [...this.#holds.values()].filter((hold) => hold !== undefined)
    return holds.sort((one, other) => one.token - other.token)
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
    if (this.#holds.get(hold.owner) === undefined) this.count += 1
    this.#holds.set(hold.owner, hold)
    this.changed.add(hold.owner)
    this.gone.delete(hold.owner)
    if (hold.writes > 0) this.writerOwner = hold.owner
    else if (this.writerOwner === hold.owner) this.writerOwner = null
  }

  end(hold: Hold, end: HoldEnd): void {
    this.#holds.set(hold.owner, undefined)
    this.count -= 1
    this.changed.delete(hold.owner)
    this.gone.add(hold.owner)
    if (this.writerOwner === hold.owner) this.writerOwner = null
    this.ends.push({ hold, end })
  }

  /** All of it was written. Whoever does not hold is not kept in mind. */
  commit(): void {
    this.changed.clear()
    this.gone.clear()
    this.ends.length = 0
    this.hasDue = false
    for (const [owner, hold] of this.#holds) if (hold === undefined) this.#holds.delete(owner)
  }

  #need(isLoaded: boolean, part: MissingPart['part']): void {
    if (!isLoaded && !this.isWhole) throw new MissingPart(part)
  }
}

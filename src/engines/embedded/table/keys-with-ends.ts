import { ENDED_REMEMBERED_MS } from '../../../law/model/limits.ts'
import type { KeyState } from './key-state.ts'

/**
 * Past this many, a key that is kept for its ends alone is forgotten before their time: a fleet that touches
 * a million keys a minute must not fill the memory with what it is done with.
 */
const KEYS_MAX = 65_536

/** Keys that are passed over, because others have more, before one is forgotten all the same. */
const PASSED_OVER_MAX = 32

interface Listing {
  readonly state: KeyState
  readonly atMs: number
  /** Whose key it is: see `groupOf`. */
  readonly group: string
}

/** The keys of which ends of requests are kept, each once, about in the order in which those become due. */
export class KeysWithEnds {
  #listings: Listing[] = []
  #start = 0
  /** How many keys are listed for each group. */
  readonly #counts = new Map<string, number>()

  get dueAtMs(): number {
    const first = this.#listings[this.#start]
    return first === undefined ? Number.POSITIVE_INFINITY : first.atMs + ENDED_REMEMBERED_MS
  }

  /** A key has its first end, of this owner. */
  add(state: KeyState, atMs: number, owner: string): void {
    const group = groupOf(state, owner)
    this.#listings.push({ state, atMs, group })
    this.#counts.set(group, (this.#counts.get(group) ?? 0) + 1)
    if (this.#listings.length - this.#start > KEYS_MAX) this.#settleOne()
  }

  /** The oldest key of a group that has its share or more. A group with less keeps what it has. */
  #settleOne(): void {
    const share = KEYS_MAX / this.#counts.size
    for (let passed = 0; passed < PASSED_OVER_MAX && this.#counts.size > 1; passed += 1) {
      const { group } = this.#listings[this.#start] as Listing
      if ((this.#counts.get(group) ?? 0) >= share) break
      this.#listings.push(this.#takeFirst())
    }
    this.#settleFirst()
  }

  /** Forget the ends whose time is over. */
  sweep(nowMs: number): void {
    while (this.dueAtMs <= nowMs) this.#settleFirst(nowMs)
  }

  /** The first leaves the list: its ends are forgotten, or it is listed anew. */
  #settleFirst(nowMs?: number): void {
    const { state, group } = this.#takeFirst()
    const { endings } = state
    const isOver = nowMs === undefined ? state.isIdle : endings?.isOver(nowMs)
    if (endings !== undefined && isOver === false) {
      this.#listings.push({ state, atMs: endings.lastAtMs, group })
      return
    }
    const left = (this.#counts.get(group) ?? 0) - 1
    if (left > 0) this.#counts.set(group, left)
    else this.#counts.delete(group)
    if (endings !== undefined) state.shard.table.forgetEnds(state)
  }

  #takeFirst(): Listing {
    const first = this.#listings[this.#start] as Listing
    this.#start += 1
    if (this.#start > 1024 && this.#start * 2 > this.#listings.length) {
      this.#listings = this.#listings.slice(this.#start)
      this.#start = 0
    }
    return first
  }
}

/**
 * Who shares the memory with others: a server stores the owners of a principal as `NAME/owner`, and an
 * operation has its type before that. Owners without a slash are one group.
 */
function groupOf({ namespace }: KeyState, owner: string): string {
  const end = owner.indexOf('/')
  if (end === -1) return ''
  return owner.slice(namespace === 'operation' ? owner.indexOf(':') + 1 : 0, end)
}

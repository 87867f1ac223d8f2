import { ENDED_REMEMBERED_MS } from '../../../law/model/limits.ts'
import type { KeyState } from './key-state.ts'

/**
 * Past this many, a key that is kept for its ends alone is forgotten before their time: a fleet that touches
 * a million keys a minute must not fill the memory with what it is done with.
 */
const KEYS_MAX = 65_536

interface Listing {
  readonly state: KeyState
  readonly atMs: number
}

/** The keys of which ends of requests are kept, each once, about in the order in which those become due. */
export class KeysWithEnds {
  #listings: Listing[] = []
  #start = 0

  get dueAtMs(): number {
    const first = this.#listings[this.#start]
    return first === undefined ? Number.POSITIVE_INFINITY : first.atMs + ENDED_REMEMBERED_MS
  }

  /** A key has its first end. */
  add(state: KeyState, atMs: number): void {
    this.#listings.push({ state, atMs })
    if (this.#listings.length - this.#start > KEYS_MAX) this.#settleFirst()
  }

  /** Forget the ends whose time is over. */
  sweep(nowMs: number): void {
    while (this.dueAtMs <= nowMs) this.#settleFirst(nowMs)
  }

  /** The first leaves the list: its ends are forgotten, or it is listed anew. */
  #settleFirst(nowMs?: number): void {
    const { state } = this.#takeFirst()
    const { endings } = state
    if (endings === undefined) return
    const isOver = nowMs === undefined ? state.isIdle : endings.isOver(nowMs)
    if (isOver) state.shard.table.forgetEnds(state)
    else this.#listings.push({ state, atMs: endings.lastAtMs })
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

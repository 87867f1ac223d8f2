import { ENDED_REMEMBERED_MS } from '../../../law/model/limits.ts'
import type { KeyState } from './key-state.ts'

/**
 * Keys that nobody holds, waits for or references, and that are kept only because the ends of their
 * requests are remembered. Past this many, the oldest are forgotten before their time: a fleet that
 * touches a million keys a minute must not fill the memory with what it is done with.
 */
const IDLE_KEYS_MAX = 65_536

interface Listing {
  readonly state: KeyState
  readonly atMs: number
}

/** Idle keys in the order in which they were listed. A busy key may stand here; it is passed over. */
export class IdleKeys {
  #listings: Listing[] = []
  #start = 0

  get dueAtMs(): number {
    const first = this.#listings[this.#start]
    return first === undefined ? Number.POSITIVE_INFINITY : first.atMs + ENDED_REMEMBERED_MS
  }

  /** List an idle key that has ends to remember, unless it is listed. */
  list(state: KeyState, nowMs: number): void {
    if (state.endings === undefined || state.endings.isListed) return
    state.endings.isListed = true
    this.#listings.push({ state, atMs: nowMs })
    if (this.#listings.length - this.#start > IDLE_KEYS_MAX) this.#settleFirst(Infinity, nowMs)
  }

  sweep(nowMs: number): void {
    while (this.dueAtMs <= nowMs) this.#settleFirst(nowMs, nowMs)
    if (this.#start > 1024 && this.#start * 2 > this.#listings.length) {
      this.#listings = this.#listings.slice(this.#start)
      this.#start = 0
    }
  }

  /** The first leaves the list: forgotten if it is idle and its memory over, else listed anew. */
  #settleFirst(overAtMs: number, nowMs: number): void {
    const listing = this.#listings[this.#start]
    if (listing === undefined) return
    this.#start += 1
    const { state } = listing
    if (state.endings === undefined) return
    state.endings.isListed = false
    if (!state.isIdle) return
    if (state.endings.isOver(overAtMs)) state.shard.table.forget(state)
    else this.list(state, nowMs)
  }
}

import type { HoldRecord } from './hold-record.ts'
import type { KeyState } from './key-state.ts'
import type { WaiterRecord } from './waiter-record.ts'

const NOTHING: readonly never[] = Object.freeze([])

/** What came due on the one key that is being decided on; soonest first. */
export class DueList {
  #state: KeyState | undefined
  #holds: readonly HoldRecord[] = NOTHING
  #waiters: readonly WaiterRecord[] = NOTHING

  set(state: KeyState, holds: readonly HoldRecord[], waiters: readonly WaiterRecord[]): void {
    this.#state = state
    this.#holds = holds
    this.#waiters = waiters
  }

  clear(): void {
    this.#state = undefined
    this.#holds = NOTHING
    this.#waiters = NOTHING
  }

  isFor(state: KeyState): boolean {
    return state === this.#state
  }

  holdsOf(state: KeyState): readonly HoldRecord[] {
    return state === this.#state ? this.#holds : NOTHING
  }

  waitersOf(state: KeyState): readonly WaiterRecord[] {
    return state === this.#state ? this.#waiters : NOTHING
  }
}

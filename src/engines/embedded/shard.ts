import { KeyState } from './key-state.ts'
import type { LockTable } from './lock-table.ts'
import { ResourceState } from './resource-state.ts'

/**
 * A part of the keys, by hash. A shard counts the tokens of its keys, so that a key that is forgotten
 * while idle still never sees a token again; and its maps stay small enough to grow without a pause.
 */
export class Shard {
  readonly table: LockTable
  readonly index: number
  readonly locks: Map<string, KeyState> = new Map()
  readonly resources: Map<string, ResourceState> = new Map()
  /** The highest token given in this shard. */
  token = 0

  constructor(table: LockTable, index: number) {
    this.table = table
    this.index = index
  }

  lock(key: string): KeyState {
    let state = this.locks.get(key)
    if (state === undefined) {
      state = new KeyState(this, key)
      this.locks.set(key, state)
    }
    return state
  }

  resource(key: string): ResourceState {
    let state = this.resources.get(key)
    if (state === undefined) {
      state = new ResourceState(this, key)
      this.resources.set(key, state)
    }
    return state
  }

  forget(state: KeyState): void {
    const states: Map<string, KeyState> =
      state instanceof ResourceState ? this.resources : this.locks
    states.delete(state.key)
  }
}

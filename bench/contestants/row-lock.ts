import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cycle } from './locker.ts'

/** A table of locks in the words of one database. Each statement is a transaction of its own. */
export interface RowLocks {
  /** Adds a row that nobody holds, if there is none. */
  add(key: string): Promise<unknown>
  /** Takes the row if nobody holds it or the lease is over, and returns how many rows that were. */
  take(key: string, owner: string): Promise<number>
  /** Gives back what is theirs. The row stays, for the next one. */
  free(key: string, owner: string): Promise<unknown>
}

/** What people write who need no library: a row for each key, an update that only one can win, and polling. */
export function createRowLockCycle(locks: RowLocks, retryMs: number): Cycle {
  return async (key, run) => {
    const owner = randomUUID()
    if ((await locks.take(key, owner)) === 0) {
      await locks.add(key)
      while ((await locks.take(key, owner)) === 0) {
        // Not all at the same moment.
        await delay(retryMs * (0.5 + Math.random()))
      }
    }
    await run()
    await locks.free(key, owner)
  }
}

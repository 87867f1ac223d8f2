import { keyOf } from './key-loader.ts'
import type { KeySnapshot } from './key-snapshot.ts'
import type { LockedRow } from './schema.ts'
import type { KeyName } from './sql-dialect.ts'

/** Keys whose snapshots are kept. Each has at most a few dozen holds and waiters in memory. */
const KEPT_MAX = 4_096

/**
 * What was loaded of keys in earlier transactions. It is used only while the key's row says that nothing
 * has changed since, so it saves the reading and decides nothing: a key that one process is busy with is
 * hardly ever read again.
 */
export class SnapshotCache {
  readonly #kept = new Map<string, KeySnapshot>()
  /** Those that were still true when their keys were locked last. */
  readonly #proven = new WeakSet<KeySnapshot>()

  /** The snapshot of a row that is locked, if it is still true. Whoever takes it gives it back. */
  take(row: LockedRow): KeySnapshot | undefined {
    const key = keyOf(row)
    const snapshot = this.#kept.get(key)
    this.#kept.delete(key)
    if (snapshot?.id !== row.id || snapshot.version !== row.version) return undefined
    this.#proven.add(snapshot)
    return snapshot
  }

  /** Whether nobody else seems to be busy with the key, so that its row will hardly be needed. */
  isProven(name: KeyName): boolean {
    const snapshot = this.#kept.get(keyOf(name))
    return snapshot !== undefined && this.#proven.has(snapshot)
  }

  /** Sessions that will be asked for if it is still true. */
  sessionsOf(name: KeyName): readonly string[] {
    return this.#kept.get(keyOf(name))?.sessions() ?? []
  }

  /** After the commit. */
  keep(snapshot: KeySnapshot): void {
    const key = keyOf(snapshot.name)
    this.#kept.delete(key)
    this.#kept.set(key, snapshot)
    if (this.#kept.size <= KEPT_MAX) return
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest)
      return
    }
  }
}

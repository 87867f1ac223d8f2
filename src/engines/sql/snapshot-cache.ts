import type { Selectable } from 'kysely'
import type { KeySnapshot } from './key-snapshot.ts'
import type { KeyTable } from './schema.ts'

/** Keys whose snapshots are kept. Each has at most a few dozen holds and waiters in memory. */
const KEPT_MAX = 4_096

/**
 * What was loaded of keys in earlier transactions. It is used only while the key's row says that nothing
 * has changed since, so it saves the reading and decides nothing: a key that one process is busy with is
 * hardly ever read again.
 */
export class SnapshotCache {
  readonly #kept = new Map<number, KeySnapshot>()

  /** The snapshot of a row that is locked, if it is still true. Whoever takes it gives it back. */
  take({ id, version }: Selectable<KeyTable>): KeySnapshot | undefined {
    const snapshot = this.#kept.get(id)
    this.#kept.delete(id)
    return snapshot?.version === version ? snapshot : undefined
  }

  /** After the commit. */
  keep(snapshot: KeySnapshot): void {
    this.#kept.delete(snapshot.id)
    this.#kept.set(snapshot.id, snapshot)
    if (this.#kept.size <= KEPT_MAX) return
    for (const id of this.#kept.keys()) {
      this.#kept.delete(id)
      return
    }
  }
}

import { keyOf } from './key-loader.ts'
import type { KeySnapshot } from './key-snapshot.ts'
import type { LockedRow } from '../schema/schema.ts'
import type { KeyName } from '../sql-dialect.ts'

/** Keys whose snapshots are kept. Each has at most a few dozen holds and waiters in memory. */
const KEPT_MAX = 4_096

/**
 * What was loaded of keys in earlier transactions. It is used only if the key's row says that nothing has
 * changed since, so it saves the reading and decides nothing: a key that one process is busy with is hardly
 * ever read again.
 */
export class SnapshotCache {
  readonly #kept = new Map<string, KeySnapshot>()
  /** Keys that somebody else seems to be busy with: what was kept of them was not true when they were locked last. */
  readonly #doubted = new Set<string>()

  /** The snapshot of a row that is locked, if it is still true. Whoever takes it gives it back. */
  take(row: LockedRow): KeySnapshot | undefined {
    const key = keyOf(row)
    const snapshot = this.#remove(key)
    if (snapshot === undefined) return undefined
    if (snapshot.id === row.id && snapshot.version === row.version) {
      this.#doubted.delete(key)
      return snapshot
    }
    this.#doubt(key)
    return undefined
  }

  /** What is known of a key before anyone has looked at its row. Whoever takes it gives it back. */
  takeUnseen(name: KeyName): KeySnapshot | undefined {
    return this.#remove(keyOf(name))
  }

  #remove(key: string): KeySnapshot | undefined {
    const snapshot = this.#kept.get(key)
    this.#kept.delete(key)
    return snapshot
  }

  /** Whether what is kept of the key is likely to be true still. */
  isTrusted(name: KeyName): boolean {
    const key = keyOf(name)
    return this.#kept.has(key) && !this.#doubted.has(key)
  }

  /** At least one of these was not as it was kept. */
  doubt(names: readonly KeyName[]): void {
    for (const name of names) this.#doubt(keyOf(name))
  }

  #doubt(key: string): void {
    this.#doubted.add(key)
    if (this.#doubted.size > KEPT_MAX) removeFirst(this.#doubted)
  }

  /** As it is kept, to be looked at only. */
  peek(name: KeyName): KeySnapshot | undefined {
    return this.#kept.get(keyOf(name))
  }

  /** After the commit. */
  keep(snapshot: KeySnapshot): void {
    const key = keyOf(snapshot.name)
    this.#kept.delete(key)
    this.#kept.set(key, snapshot)
    if (this.#kept.size > KEPT_MAX) removeFirst(this.#kept)
  }
}

function removeFirst(from: Map<string, unknown> | Set<string>): void {
  for (const oldest of from.keys()) {
    from.delete(oldest)
    return
  }
}

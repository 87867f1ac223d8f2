import type { LockHandle } from './lock-handle.ts'

/**
 * Several locks that were acquired together and are released together.
 *
 * @example
 * ```ts
 * import { connect } from 'holdfast'
 *
 * const locks = await connect('memory:')
 * const both = await locks.acquireAll(['accounts/a', 'accounts/b'], { wait: '5s' })
 * console.log(both.token('accounts/a'), both.token('accounts/b'))
 * await both.release()
 * await locks.close()
 * ```
 */
export interface LockSet extends AsyncDisposable {
  /** One for each different key, in the order in which they were acquired: byte order. */
  readonly locks: readonly LockHandle[]

  /** Aborts when any of the locks is lost. */
  readonly signal: AbortSignal

  /** Whether all of them may still be relied on. */
  readonly isHeld: boolean

  /** The fencing token of one key. Throws `LOCK_INVALID_ARGUMENT` for a key that is not in the set. */
  token(key: string): number

  /** Give up all of them, the last one acquired first. Otherwise as the release of a single lock. */
  release(): Promise<void>
}

import { createError } from '../../engine/errors/errors.ts'
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
export class LockSet implements AsyncDisposable {
  /** One for each different key, in the order in which they were acquired: byte order. */
  readonly locks: readonly LockHandle[]
  #signal: AbortSignal | undefined = undefined
  #releasing: Promise<void> | undefined = undefined

  /** Made by `acquireAll`. */
  constructor(locks: readonly LockHandle[]) {
    this.locks = Object.freeze([...locks])
  }

  /** Aborts when any of the locks is lost. */
  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.any(this.locks.map((lock) => lock.signal))
    return this.#signal
  }

  /** Whether all of them may still be relied on. */
  get isHeld(): boolean {
    return this.locks.every((lock) => lock.isHeld)
  }

  /** The fencing token of one key. Throws `LOCK_INVALID_ARGUMENT` for a key that is not in the set. */
  token(key: string): number {
    const lock = this.locks.find((one) => one.key === key)
    if (lock === undefined) {
      throw createError('LOCK_INVALID_ARGUMENT', `"${key}" is not one of the locks of this set`)
    }
    return lock.token
  }

  /** Give up all of them, the last one acquired first. Otherwise as the release of a single lock. */
  release(): Promise<void> {
    this.#releasing ??= releaseAll(this.locks)
    return this.#releasing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const lock of this.locks.toReversed()) await lock[Symbol.asyncDispose]()
  }
}

/** Every lock gets its chance; the first failure is reported when all have had it. */
async function releaseAll(locks: readonly LockHandle[]): Promise<void> {
  const failures: unknown[] = []
  for (const lock of locks.toReversed()) {
    try {
      await lock.release()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

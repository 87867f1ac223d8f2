import { createError } from '../../engine/errors/errors.ts'
import type { HeldLock } from './held-lock.ts'
import type { LockSet } from './lock-set.ts'

/** Several held locks as one. */
export class HeldLockSet implements LockSet {
  readonly locks: readonly HeldLock[]
  #signal: AbortSignal | undefined = undefined
  #releasing: Promise<void> | undefined = undefined

  constructor(locks: readonly HeldLock[]) {
    this.locks = Object.freeze([...locks])
  }

  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.any(this.locks.map((lock) => lock.signal))
    return this.#signal
  }

  get isHeld(): boolean {
    return this.locks.every((lock) => lock.isHeld)
  }

  token(key: string): number {
    const lock = this.locks.find((one) => one.key === key)
    if (lock === undefined) {
      throw createError('LOCK_INVALID_ARGUMENT', `"${key}" is not one of the locks of this set`)
    }
    return lock.token
  }

  release(): Promise<void> {
    this.#releasing ??= releaseAll(this.locks)
    return this.#releasing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const lock of this.locks.toReversed()) await lock[Symbol.asyncDispose]()
  }
}

/** Every lock gets its chance; the first failure is reported when all have had it. */
async function releaseAll(locks: readonly HeldLock[]): Promise<void> {
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

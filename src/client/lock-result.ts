import type { LockError } from '../engine/errors/errors.ts'

/** What becomes of a request for a lock: exactly one of the three is there. */
export interface LockResult {
  /** The lock is ours: do the work, then `unlock`. */
  readonly acquired: boolean
  /** The work is done already, or was done while we waited. */
  readonly skipped: boolean
  /** Neither: the server refused, or could not be reached as often as was tried. */
  readonly error: LockError | null
  /** With `acquired`: grows with every grant; a store that checks it keeps out a holder that was paused. */
  readonly token?: number | undefined
  /** With `acquired`: aborts when the lock was lost, or may have been. Only where it is waited by events. */
  readonly signal?: AbortSignal | undefined
  /** With `skipped`: what the work left, if anything. */
  readonly value?: unknown
  /** With `skipped`: the server keeps no record; look for yourself whether the work is done. */
  readonly dissolved?: true | undefined
}

export interface UnlockResult {
  readonly released: boolean
  readonly error: LockError | null
}

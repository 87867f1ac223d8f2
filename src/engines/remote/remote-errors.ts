import { createError, type LockError } from '../../engine/errors/errors.ts'
import { describeTlsFailure } from '../../wire/tls-failure.ts'

/** The server could not be reached, or not for long enough to hear its answer. */
export function toUnreachable(applied: 'no' | 'maybe', cause: unknown): LockError {
  const what = cause instanceof Error ? cause.message : String(cause)
  return createError('LOCK_ENGINE_UNAVAILABLE', `the lock server does not answer: ${what}`, {
    applied,
    cause,
  })
}

/** What trying again does not change: the two ends do not have each other. */
export function toTlsError(cause: unknown): LockError | undefined {
  const refusal = describeTlsFailure(cause)
  return refusal && createError(refusal.code, refusal.message, { cause })
}

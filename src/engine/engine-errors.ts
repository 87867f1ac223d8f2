import type { Problem } from '../law/validate.ts'
import { createError, type LockError } from './errors.ts'

/** The errors that every engine has in common, in the words of the catalogue. */

export function toInvalidArgument(asked: { readonly kind: string }, problem: Problem): LockError {
  const { field, message } = problem
  return createError('LOCK_INVALID_ARGUMENT', `${asked.kind}: ${field} ${message}`, {
    details: { field },
  })
}

export function toAborted(asked: { readonly kind: string }, signal: AbortSignal): LockError {
  return createError('LOCK_ABORTED', `${asked.kind} was aborted by its signal`, {
    cause: signal.reason,
  })
}

export function toClosed(applied: 'no' | 'maybe' = 'no'): LockError {
  return createError('LOCK_ENGINE_CLOSED', 'the engine is closed', { applied })
}

/** Something that cannot be, was: a law or a table that contradicts itself. */
export function toDefect(asked: { readonly kind: string }, cause: unknown): LockError {
  const what = cause instanceof Error ? cause.message : String(cause)
  return createError('LOCK_INTERNAL', `${asked.kind}: ${what}`, { cause, applied: 'maybe' })
}

import { createError, LockError } from '../../engine/errors.ts'
import type { Problem } from '../../law/validate.ts'
import {
  DirectoryOwnedError,
  JournalClosedError,
  JournalDamagedError,
  JournalFailedError,
  JournalVersionError,
} from './journal/journal-errors.ts'

/** The journal's errors, and the engine's own, in the words of the public catalogue. */
export function toStorageError(error: unknown, applied?: 'no' | 'maybe'): LockError {
  if (error instanceof LockError) return error
  const cause = error
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof JournalDamagedError || error instanceof JournalVersionError) {
    const details = { file: error.file }
    return createError('LOCK_STORAGE_DAMAGED', message, { cause, details })
  }
  if (error instanceof DirectoryOwnedError) {
    const details = { pid: error.pid, directory: error.directory }
    return createError('LOCK_DIRECTORY_OWNED', message, { cause, details })
  }
  if (error instanceof JournalClosedError) return toClosed()
  if (error instanceof JournalFailedError) {
    return createError('LOCK_STORAGE_FAILED', message, { cause, applied: applied ?? error.applied })
  }
  return createError('LOCK_STORAGE_FAILED', message, { cause, applied: applied ?? 'maybe' })
}

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

export function toClosed(): LockError {
  return createError('LOCK_ENGINE_CLOSED', 'the engine is closed')
}

/** Something that cannot be, was: a law or a table that contradicts itself. */
export function toDefect(asked: { readonly kind: string }, cause: unknown): LockError {
  const what = cause instanceof Error ? cause.message : String(cause)
  return createError('LOCK_INTERNAL', `${asked.kind}: ${what}`, { cause, applied: 'maybe' })
}

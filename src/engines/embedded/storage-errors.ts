import { toClosed } from '../../engine/errors/engine-errors.ts'
import { createError, LockError } from '../../engine/errors/errors.ts'
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
    const isNewer = error instanceof JournalVersionError
    const code = isNewer ? 'LOCK_STORAGE_NEWER' : 'LOCK_STORAGE_DAMAGED'
    return createError(code, message, { cause, details })
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

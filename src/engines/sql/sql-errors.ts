import { createError, LockError } from '../../engine/errors/errors.ts'
import { NewerSchemaError } from './schema/migrate.ts'

/** The database could not be asked, or did not answer: what that means for whoever asked us. */
export function toUnavailable(error: unknown, applied: 'no' | 'maybe'): LockError {
  if (error instanceof LockError) return error
  const what = error instanceof Error ? error.message : String(error)
  return createError('LOCK_ENGINE_UNAVAILABLE', `the database is not available: ${what}`, {
    cause: error,
    applied,
  })
}

/**
 * The database answered that it will not: no space, no right, no table. Asking again changes nothing by itself;
 * somebody has to do something about the database.
 */
export function toRefused(error: unknown, applied: 'no' | 'maybe'): LockError {
  if (error instanceof LockError) return error
  const cause = error
  if (error instanceof NewerSchemaError) {
    return createError('LOCK_STORAGE_NEWER', error.message, { cause, applied })
  }
  const what = error instanceof Error ? error.message : String(error)
  return createError('LOCK_STORAGE_FAILED', `the database refused: ${what}`, { cause, applied })
}

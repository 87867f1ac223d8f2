import { ERROR_CATALOGUE } from '../../engine/error-catalogue.ts'
import { isLockError } from '../../engine/errors.ts'
import type { Failure } from '../../protocol/session/server-message.ts'

/**
 * An error as a client may see it: what is wrong with its request in full, what is wrong with us only by
 * its code and its meaning. No stack, no path, no secret.
 */
export function toFailure(error: unknown): Failure {
  if (!isLockError(error)) {
    const { meaning } = ERROR_CATALOGUE.LOCK_INTERNAL
    return { code: 'LOCK_INTERNAL', message: meaning, applied: 'maybe', details: {} }
  }
  const { code, message, applied, details } = error
  const { class: kind, meaning } = ERROR_CATALOGUE[code]
  const isOurs = kind === 'UnavailableError' || kind === 'InternalError'
  // Whoever asked cannot do anything about our engine's being closed but come back later.
  const shown = code === 'LOCK_ENGINE_CLOSED' ? 'LOCK_ENGINE_UNAVAILABLE' : code
  return isOurs
    ? { code: shown, message: meaning, applied, details: {} }
    : { code: shown, message, applied, details }
}

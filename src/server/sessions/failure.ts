import { ERROR_CATALOGUE } from '../../engine/errors/error-catalogue.ts'
import { isLockError } from '../../engine/errors/errors.ts'
import type { Failed } from '../../wire/session/session-message.ts'

/**
 * An error as a client may see it: what is wrong with its request in full, what is wrong with the server only
 * by its code and its meaning. No stack, no path, no secret.
 */
export function toFailed(error: unknown): Failed {
  if (!isLockError(error)) {
    const { meaning } = ERROR_CATALOGUE.LOCK_INTERNAL
    return { kind: 'failed', code: 'LOCK_INTERNAL', message: meaning, applied: 'maybe' }
  }
  const { code, message, applied, details } = error
  const { class: kind, meaning } = ERROR_CATALOGUE[code]
  const isOurs = kind === 'UnavailableError' || kind === 'InternalError'
  // If the engine of a server is closed, all that a client can do is to come back later.
  const shown = code === 'LOCK_ENGINE_CLOSED' ? 'LOCK_ENGINE_UNAVAILABLE' : code
  return isOurs
    ? { kind: 'failed', code: shown, message: meaning, applied }
    : { kind: 'failed', code: shown, message, applied, details }
}

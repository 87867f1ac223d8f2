import type { ErrorCode } from '../../engine/errors/error-catalogue.ts'

/** What an answer means by its status alone. Anything else is no answer of a lock server that works. */
export function codeOfStatus(status: number): ErrorCode {
  switch (status) {
    case 400:
    case 413:
    case 422:
      return 'LOCK_INVALID_ARGUMENT'
    case 401:
    case 403:
      return 'LOCK_FORBIDDEN'
    case 429:
      return 'LOCK_LIMIT'
    default:
      return 'LOCK_ENGINE_UNAVAILABLE'
  }
}

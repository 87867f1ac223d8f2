import { ERROR_CATALOGUE } from '../../engine/errors/error-catalogue.ts'
import { isLockError, type LockError } from '../../engine/errors/errors.ts'
import { toBadField } from './bad-field.ts'
import type { JsonAnswer } from './exchange.ts'
import type { Field } from './fields.ts'
import { HttpError } from './http-error.ts'

/**
 * An error as a client may see it: what is wrong with its request in full, what is wrong with us only by
 * its code and its meaning. No stack, no path, no secret. A field is called what the request calls it.
 */
export function toErrorAnswer(error: unknown, fields: readonly Field[] = []): JsonAnswer {
  if (error instanceof HttpError) {
    const { status, code, message, details, headers } = error
    return { status, body: { error: message, code, ...details }, headers }
  }
  if (isLockError(error)) return toLockErrorAnswer(error, fields)
  return { status: 500, body: { error: 'the server has failed', code: 'internal' } }
}

function toLockErrorAnswer(error: LockError, fields: readonly Field[]): JsonAnswer {
  const { code, message, details, retryable, applied } = error
  switch (ERROR_CATALOGUE[code].class) {
    case 'InvalidArgumentError':
      return toBadRequest(error, fields)
    case 'ForbiddenError':
      return { status: 403, body: { error: message, code: 'forbidden' } }
    case 'LimitError':
      return { status: 429, body: { error: message, code: 'limit', ...details } }
    case 'NotFoundError':
      return { status: 404, body: { error: message, code: 'not_found' } }
    case 'ConflictError':
      return { status: 409, body: { error: message, code: 'conflict' } }
    case 'AbortedError':
    case 'TimeoutError':
    case 'UnavailableError':
    case 'InternalError':
      return {
        status: 503,
        // The word "connection" tells clients that look for it to try again.
        body: {
          error: `no connection to the locks at the moment: ${ERROR_CATALOGUE[code].meaning}`,
          code: 'unavailable',
          cause: code,
          retryable: retryable || code === 'LOCK_ENGINE_CLOSED',
          applied,
        },
      }
  }
}

function toBadRequest(error: LockError, fields: readonly Field[]): JsonAnswer {
  const badField = toBadField(error, fields)
  if (badField !== undefined) return toErrorAnswer(badField)
  return { status: 400, body: { error: error.message, code: 'bad_request' } }
}

import type { ErrorCode } from '../engine/error-catalogue.ts'
import { createError, type LockError } from '../engine/errors.ts'
import type { Answer } from './http-caller.ts'

/** What the codes of the server's answers are called here. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  in_use: 'LOCK_IN_USE',
  held: 'LOCK_HELD',
  not_holder: 'LOCK_NOT_HOLDER',
  stale_token: 'LOCK_STALE_TOKEN',
  ended: 'LOCK_REQUEST_ENDED',
  no_session: 'LOCK_NO_SESSION',
  bad_request: 'LOCK_INVALID_ARGUMENT',
  limit: 'LOCK_LIMIT',
  unavailable: 'LOCK_ENGINE_UNAVAILABLE',
}

/** An answer that says no, as an error. */
export function toAnswerError({ status, body }: Answer): LockError {
  const code = CODES[String(body['code'])] ?? codeOfStatus(status)
  const said = body['error'] ?? body['message']
  const message = typeof said === 'string' && said !== '' ? said : 'the server refused'
  return createError(code, `${message} (${status})`, { details: { ...body, status } })
}

function codeOfStatus(status: number): ErrorCode {
  if (status === 429) return 'LOCK_LIMIT'
  return status >= 500 ? 'LOCK_ENGINE_UNAVAILABLE' : 'LOCK_INVALID_ARGUMENT'
}

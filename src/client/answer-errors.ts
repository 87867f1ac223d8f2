import { type ErrorCode, knownCode } from '../engine/errors/error-catalogue.ts'
import { createError, isLockError, type LockError } from '../engine/errors/errors.ts'
import { codeOfRefusal } from '../locks/request/refusal-errors.ts'
import { codeOfStatus } from '../wire/json/status-code.ts'

/** What a server has said, of any shape. */
export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** Too slow, overloaded, or its engine is away: as good as not reached. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])

/** An answer that says no, as an error. */
export function toAnswerError({ status, body }: Answer): LockError {
  const said = body['error'] ?? body['message']
  const message = typeof said === 'string' && said !== '' ? said : 'the server refused'
  const mayBeApplied = status >= 500 && body['applied'] !== 'no'
  return createError(codeOf({ status, body }), `${message} (${status})`, {
    applied: mayBeApplied ? 'maybe' : 'no',
    details: { ...body, status },
  })
}

function codeOf({ status, body }: Answer): ErrorCode {
  const { code, cause, retryable } = body
  // Every failure that may pass means the same to a caller: the locks are out of reach.
  const lasting = retryable === false ? knownCode(cause) : undefined
  return lasting ?? codeOfRefusal(code) ?? codeOfStatus(status)
}

/** Whether the answer leaves the outcome open, so that the request may be sent again. */
export function isPassingAnswer({ status, body }: Answer): boolean {
  return PASSING.has(status) && body['retryable'] !== false
}

/** Whether there was no answer, or one that leaves the outcome open. */
export function isPassing(error: unknown): boolean {
  if (!isLockError(error)) return false
  const { status } = error.details
  if (typeof status !== 'number') return error.code === 'LOCK_ENGINE_UNAVAILABLE'
  return isPassingAnswer({ status, body: error.details })
}

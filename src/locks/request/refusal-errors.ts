import type { ErrorCode } from '../../engine/errors/error-catalogue.ts'
import { createError, type LockError } from '../../engine/errors/errors.ts'
import { unreachable } from '../../law/assert.ts'
import type { HolderShown, RefusalCode, Refused } from '../../law/model/outcomes.ts'

/** What was tried, for the message of an error. */
export interface Attempt {
  /** As in `acquire the write lock on "a"`. */
  readonly what: string
  readonly key: string
  /** How long it had waited; absent where it does not wait. */
  readonly waitedMs?: number | undefined
  /** The time of day, to say since when a lock is held. */
  readonly wallMs: number
}

/** What each refusal becomes is decided here and nowhere else. */
const CODES: Readonly<Record<RefusalCode, ErrorCode>> = {
  held: 'LOCK_HELD',
  timeout: 'LOCK_WAIT_TIMEOUT',
  cancelled: 'LOCK_ABORTED',
  abandoned: 'LOCK_ENGINE_UNAVAILABLE',
  disconnected: 'LOCK_NO_SESSION',
  upgrade_conflict: 'LOCK_UPGRADE_CONFLICT',
  deadlock: 'LOCK_DEADLOCK',
  not_holder: 'LOCK_NOT_HOLDER',
  stale_token: 'LOCK_STALE_TOKEN',
  ended: 'LOCK_REQUEST_ENDED',
  in_use: 'LOCK_IN_USE',
  no_session: 'LOCK_NO_SESSION',
  bad_request: 'LOCK_INVALID_ARGUMENT',
  limit: 'LOCK_LIMIT',
}

/** The code of a refusal; `undefined` for what is none. */
export function codeOfRefusal(refusal: unknown): ErrorCode | undefined {
  const isRefusal = typeof refusal === 'string' && Object.hasOwn(CODES, refusal)
  return isRefusal ? CODES[refusal as RefusalCode] : undefined
}

export function createRefusalError(refused: Refused, attempt: Attempt): LockError {
  const { code } = refused
  const { message, details } = describe(refused, attempt)
  return createError(CODES[code], message, {
    details: { key: attempt.key, refusal: code, ...details },
  })
}

interface Description {
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}

function describe(refused: Refused, attempt: Attempt): Description {
  const { code, holders = [], cycle = [], nodes = [], end, detail } = refused
  const { what, waitedMs } = attempt
  switch (code) {
    case 'held':
      return { message: `cannot ${what}: ${showHolders(holders, attempt)}`, details: { holders } }
    case 'timeout':
      return { message: describeTimeout(holders, attempt), details: { holders, waitedMs } }
    case 'cancelled':
      return { message: `the wait to ${what} was cancelled` }
    case 'abandoned': {
      const why = 'the engine had not heard of the waiter for too long'
      return { message: `the wait to ${what} ended: ${why}` }
    }
    case 'disconnected':
      return { message: `the wait to ${what} ended with its session` }
    case 'upgrade_conflict': {
      const why = 'another reader already waits to become the writer; release the read lock first'
      return { message: `cannot ${what}: ${why}`, details: { holders } }
    }
    case 'deadlock':
      return { message: describeDeadlock(cycle, attempt), details: { cycle } }
    case 'not_holder':
      return { message: `cannot ${what}: this owner does not hold it` }
    case 'stale_token':
      return { message: `cannot ${what}: it has been granted again since` }
    case 'ended': {
      const why = `the request was granted and has ended since (${end ?? 'unknown'})`
      return { message: `cannot ${what}: ${why}`, details: { end } }
    }
    case 'in_use':
      return { message: `cannot ${what}: in use by ${nodes.join(', ')}`, details: { nodes } }
    case 'no_session':
      return { message: `cannot ${what}: there is no such session` }
    case 'bad_request':
      return { message: `cannot ${what}: ${detail ?? 'bad request'}` }
    case 'limit':
      return { message: `cannot ${what}: ${detail ?? 'a bound was reached'}` }
    default:
      return unreachable(code)
  }
}

function describeTimeout(holders: readonly HolderShown[], attempt: Attempt): string {
  const waited = attempt.waitedMs === undefined ? '' : ` after ${showMs(attempt.waitedMs)}`
  return `gave up waiting to ${attempt.what}${waited}: ${showHolders(holders, attempt)}`
}

function describeDeadlock(cycle: readonly string[], { what }: Attempt): string {
  const why =
    cycle.length <= 1
      ? 'the same task already holds it and would wait for itself'
      : `these wait for each other: ${[...cycle, cycle[0]].join(' waits for ')}`
  return `cannot ${what}: ${why}`
}

/** The first holder says who to ask; the rest are in the details. */
function showHolders(holders: readonly HolderShown[], { wallMs }: Attempt): string {
  const [first, ...others] = holders
  if (first === undefined) return 'others are ahead in the queue'
  const since = new Date(wallMs - first.heldMs).toISOString()
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return `held by ${first.owner} (${first.mode}) since ${since}${more}`
}

function showMs(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`
}

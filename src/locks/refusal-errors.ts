import { createError, type LockError } from '../engine/errors.ts'
import { unreachable } from '../law/assert.ts'
import type { HolderShown, Refused } from '../law/outcomes.ts'

/** What was tried, for the message of an error. */
export interface Attempt {
  /** As in `acquire the write lock on "a"`. */
  readonly what: string
  readonly key: string
  /** How long it had waited; absent where it does not wait. */
  readonly waitedMs?: number
  /** The time of day, to say since when a lock is held. */
  readonly wallMs: number
}

/** The error of a refusal. What each code becomes is decided here and nowhere else. */
export function createRefusalError(refused: Refused, attempt: Attempt): LockError {
  const { code, holders = [], cycle = [], nodes = [], end, detail } = refused
  const { what, key } = attempt
  const details = { key, refusal: code }
  switch (code) {
    case 'held':
      return createError('LOCK_HELD', `cannot ${what}: ${showHolders(holders, attempt)}`, {
        details: { ...details, holders },
      })
    case 'timeout':
      return createError('LOCK_WAIT_TIMEOUT', describeTimeout(holders, attempt), {
        details: { ...details, holders, waitedMs: attempt.waitedMs },
      })
    case 'cancelled':
      return createError('LOCK_ABORTED', `the wait to ${what} was cancelled`, { details })
    case 'abandoned':
      return createError(
        'LOCK_ENGINE_UNAVAILABLE',
        `the wait to ${what} ended: the engine had not heard of the waiter for too long`,
        { details },
      )
    case 'disconnected':
      return createError('LOCK_NO_SESSION', `the wait to ${what} ended with its session`, {
        details,
      })
    case 'upgrade_conflict':
      return createError(
        'LOCK_UPGRADE_CONFLICT',
        `cannot ${what}: another reader already waits to become the writer; release the read lock first`,
        { details: { ...details, holders } },
      )
    case 'deadlock':
      return createError('LOCK_DEADLOCK', describeDeadlock(cycle, attempt), {
        details: { ...details, cycle },
      })
    case 'not_holder':
      return createError('LOCK_NOT_HOLDER', `cannot ${what}: this owner does not hold it`, {
        details,
      })
    case 'stale_token':
      return createError('LOCK_STALE_TOKEN', `cannot ${what}: it has been granted again since`, {
        details,
      })
    case 'ended':
      return createError(
        'LOCK_REQUEST_ENDED',
        `cannot ${what}: the request was granted and has ended since (${end ?? 'unknown'})`,
        { details: { ...details, end } },
      )
    case 'in_use':
      return createError('LOCK_IN_USE', `cannot ${what}: in use by ${nodes.join(', ')}`, {
        details: { ...details, nodes },
      })
    case 'no_session':
      return createError('LOCK_NO_SESSION', `cannot ${what}: there is no such session`, { details })
    case 'bad_request':
      return createError('LOCK_INVALID_ARGUMENT', `cannot ${what}: ${detail ?? 'bad request'}`, {
        details,
      })
    case 'limit':
      return createError('LOCK_LIMIT', `cannot ${what}: ${detail ?? 'a bound was reached'}`, {
        details,
      })
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

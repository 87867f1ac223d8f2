import { createError, type LockError } from '../../engine/errors/errors.ts'
import type { Refused } from '../../law/model/outcomes.ts'

/**
 * Why a hold ended before it was released.
 *
 * - `expired`: its lease ran out, and it was not being renewed.
 * - `unconfirmed`: it was being renewed, but no renewal was confirmed in time. The engine may still
 *   have it; the holder can no longer know.
 * - `forced`: an operator ended it.
 * - `disconnected`: the session that it was held in ended.
 * - `not_holder`: the engine says that this owner does not hold it any more.
 * - `closed`: the `Locks` that it came from was closed; the lease runs out by itself.
 */
export type LossReason =
  | 'expired'
  | 'unconfirmed'
  | 'forced'
  | 'disconnected'
  | 'not_holder'
  | 'closed'

/** What was lost, as far as a message needs to know. */
export interface Lost {
  /** As in `the write lock on "a"`. */
  readonly what: string
  readonly key: string
  readonly token: number
  readonly reason: LossReason
}

const EXPLANATIONS: Readonly<Record<LossReason, string>> = {
  expired: 'its lease ran out and it was not being renewed',
  unconfirmed: 'no renewal was confirmed before its lease ran out',
  forced: 'an operator released it by force',
  disconnected: 'its session ended while it was held',
  not_holder: 'the engine says that it has another holder or none',
  closed: 'its connection was closed while it was held',
}

export function createLostError(
  lost: Lost,
  details?: Readonly<Record<string, unknown>>,
): LockError {
  const { what, key, token, reason } = lost
  return createError('LOCK_LOST', `${what} was lost: ${EXPLANATIONS[reason]}`, {
    details: { key, token, reason, ...details },
  })
}

/** What a holder learns from being refused as one. */
export function toLossReason({ end }: Pick<Refused, 'end'>): LossReason {
  return end === 'forced' || end === 'expired' || end === 'disconnected' ? end : 'not_holder'
}

import type { HoldEnd } from '../law/model/view.ts'
import type { HistoryEnd } from './queries.ts'

/** What a history keeps, on every engine that has one, each with its reason. */

/** Enough to see how a lock came to where it is; a busy one has this many ends in a second. */
export const HISTORY_PER_KEY_MAX = 100

/** A week covers the question of what happened last weekend. */
export const HISTORY_KEPT_MS: number = 7 * 24 * 60 * 60 * 1000

const KEPT: Readonly<Record<HoldEnd, HistoryEnd | undefined>> = {
  released: 'released',
  expired: 'expired',
  disconnected: 'disconnected',
  forced: 'forced',
  failed: 'failed',
  cancelled: undefined,
  unclaimed: undefined,
}

/** What a history says of an end; `undefined` where it undid a grant that nobody had taken. */
export function toHistoryEnd(end: HoldEnd): HistoryEnd | undefined {
  return KEPT[end]
}

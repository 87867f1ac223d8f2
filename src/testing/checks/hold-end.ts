import type { HistoryEntry } from '../history.ts'
import type { Hold } from './holds.ts'

/** The release or finish that ended the hold, if the engine acknowledged it. */
export function acknowledgedLeave({ end }: Hold): HistoryEntry | null {
  if (end?.cause !== 'left' || end.record.kind !== 'op') return null
  return end.record.outcome === 'ok' ? end.record : null
}

/**
 * The first instant at which the hold can have ended other than by an acknowledged release. What
 * ends it from outside may do so from its call on; what only shows that it is over says nothing
 * about when, so there it is the lease that counts.
 */
export function firstPossibleEnd({ end, until }: Hold): number {
  switch (end?.cause) {
    case 'cancelled':
    case 'forced':
    case 'session':
      return end.record.kind === 'op' ? Math.min(until, end.record.call) : until
    case 'left':
    case 'not-holder':
    case 'expired':
    case 'replaced':
      return end.leaseUntil
    default:
      return until
  }
}

import type { Evidence } from './evidence.ts'
import type { Violation } from './violation.ts'

/**
 * No lease passes before its time, counted from the call of the last acknowledged acquire or
 * renewal. That it passed is shown by a mark `expired`, or by a refusal of its owner that nobody
 * else explains.
 */
export function checkNoEarlyExpiry({ holds }: Evidence): Violation[] {
  return holds.flatMap((hold): Violation[] => {
    const { end } = hold
    if (end === null || (end.cause !== 'expired' && end.cause !== 'not-holder')) return []
    if (end.at >= end.leaseUntil) return []
    return [
      {
        property: 'no-early-expiry',
        message:
          `${hold.subject}: the hold of ${hold.owner} was over at ${end.at}, ` +
          `but its lease ran until ${end.leaseUntil}`,
        entries: [...hold.requests.map(({ answer }) => answer), end.record],
      },
    ]
  })
}

import type { HistoryEntry } from '../history.ts'
import { partitionBy } from '../linearizability.ts'
import type { HoldEvidence } from './hold-evidence.ts'

/**
 * What heartbeats do for the holds of a session: an acknowledged one renews each for its own ttl. In a
 * stream session they renew none, and no hold may be trusted for longer than the grace after the last of
 * them. A history without `session` entries leaves leases as they are.
 */
export class SessionLeases {
  readonly #beats: Map<string, HistoryEntry[]>
  readonly #rate: number

  constructor({ entries, settings }: Pick<HoldEvidence, 'entries' | 'settings'>) {
    const beats = entries.filter(
      (entry) => entry.op === 'session' && entry.outcome === 'ok' && entry.action !== 'end',
    )
    this.#beats = partitionBy(beats, (entry) => entry.session ?? '')
    this.#rate = 1 - settings.clockRateError
  }

  /**
   * The instant until which a client may rely on a time span that began when it sent a request.
   * The stamp is rounded down, because the recorder spreads what happens within one millisecond.
   */
  deadline(sentAt: number, spanMs: number): number {
    return Math.floor(sentAt) + spanMs * this.#rate
  }

  /**
   * When a lease may end that ends at `until` without the heartbeats known at an instant. A heartbeat
   * that arrived when the lease had passed revived nothing, and one that was answered only then may have.
   */
  keptUntil(
    session: string,
    lease: {
      readonly ttlMs: number | undefined
      readonly since: number
      readonly until: number
      readonly knownAt: number
    },
  ): number {
    const { ttlMs, since, knownAt } = lease
    const known = (this.#beats.get(session) ?? []).filter((beat) => beat.ret <= knownAt)
    if (known.some((beat) => beat.keepsLeases === false)) {
      return Math.min(lease.until, this.#graceUntil(known))
    }
    if (ttlMs === undefined) return Infinity
    return known
      .filter((beat) => beat.call > since)
      .reduce((until, { call, ret }) => {
        return ret < until ? Math.max(until, this.deadline(call, ttlMs)) : until
      }, lease.until)
  }

  #graceUntil(known: readonly HistoryEntry[]): number {
    const graces = known.flatMap((beat) =>
      beat.ttlMs === undefined ? [] : this.deadline(beat.call, beat.ttlMs),
    )
    return graces.length === 0 ? Infinity : Math.max(...graces)
  }
}

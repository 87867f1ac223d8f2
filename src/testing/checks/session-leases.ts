import type { HistoryEntry } from '../history.ts'
import { partitionBy } from '../linearizability.ts'
import type { HoldEvidence } from './hold-evidence.ts'

/**
 * What heartbeats do for the holds of a session: an acknowledged one renews their leases, and none
 * may be trusted for longer than the grace after the last of them. A history without `session`
 * entries leaves leases as they are.
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
   * How far the heartbeats known at an instant have renewed a lease that would otherwise end at
   * `until`. One that arrived when the lease had passed revived nothing, and one that was answered
   * only then may have.
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
    if (ttlMs === undefined) return Infinity
    const known = this.#known(session, knownAt)
    if (known.some((beat) => beat.keepsLeases === false)) return lease.until
    return known
      .filter((beat) => beat.call > since)
      .reduce((until, { call, ret }) => {
        return ret < until ? Math.max(until, this.deadline(call, ttlMs)) : until
      }, lease.until)
  }

  /** The end of the grace, by the heartbeats known at an instant. */
  trustedUntil(session: string, knownAt: number): number {
    const graces = this.#known(session, knownAt).flatMap((beat) =>
      beat.ttlMs === undefined ? [] : this.deadline(beat.call, beat.ttlMs),
    )
    return graces.length === 0 ? Infinity : Math.max(...graces)
  }

  #known(session: string, knownAt: number): HistoryEntry[] {
    return (this.#beats.get(session) ?? []).filter((beat) => beat.ret <= knownAt)
  }
}

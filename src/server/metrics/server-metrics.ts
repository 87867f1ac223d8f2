import type { WatchEvent } from '../../engine/engine.ts'
import type { EventKind } from '../../law/events.ts'
import { type Counter, type Gauge, Registry, type Series } from './registry.ts'
import { RequestCounts } from './request-counts.ts'
import { SessionMetrics } from './session-metrics.ts'
import { WaitTimes } from './wait-times.ts'

/** Upper bounds in seconds: from a hand-over in one process to a wait of an hour. */
const WAIT_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 3600]

/** Of a session are refused: a watch, a request too many. */
const LIMITED = ['lock', 'operation', 'session'] as const
type Limited = (typeof LIMITED)[number]

type CountedKind = Exclude<EventKind, 'refused'>
type EventSeries = Readonly<Record<CountedKind, Series>>

/** What is counted as it happens. What there is at the moment is read when somebody asks. */
export class ServerMetrics {
  readonly registry: Registry = new Registry()
  readonly requests: RequestCounts
  readonly sessions: SessionMetrics
  readonly #locks: EventSeries
  readonly #operations: EventSeries
  readonly #waits: WaitTimes
  readonly #refusals: Counter
  readonly #resets: Counter
  readonly #failures: Counter
  readonly #badRequests: Counter
  readonly connections: Gauge
  readonly connectionsRefused: Counter

  constructor(about: {
    readonly engine: string
    readonly coordination: string
    readonly nowMs: () => number
  }) {
    const { registry } = this
    const counters = countersOf(registry)
    // A series that begins with its first event hides that event from a rate.
    this.#locks = seriesOf(counters, 'lock')
    this.#operations = seriesOf(counters, 'operation')
    this.#refusals = registry.counter({
      name: 'holdfast_refusals_total',
      help: 'Requests that were refused, by reason.',
      labels: ['kind', 'reason'],
    })
    for (const kind of LIMITED) this.#refusals.add(0, kind, 'limit')
    this.#resets = registry.counter({
      name: 'holdfast_event_resets_total',
      help: 'Times that the engine lost track of its own events.',
    })
    const waitSeconds = registry.histogram({
      name: 'holdfast_wait_seconds',
      help: 'How long requests were queued until they were granted or left; 0 for a grant at once.',
      buckets: WAIT_SECONDS,
    })
    this.#waits = new WaitTimes(waitSeconds, about.nowMs)
    const requests = registry.counter({
      name: 'holdfast_http_requests_total',
      help: 'Answered HTTP requests, by route and status.',
      labels: ['route', 'status'],
    })
    this.requests = new RequestCounts(requests)
    this.sessions = new SessionMetrics(registry)
    this.#badRequests = registry.counter({
      name: 'holdfast_http_malformed_total',
      help: 'Connections on which something came that is not HTTP, or came too slowly.',
    })
    this.connections = registry.gauge({
      name: 'holdfast_http_connections',
      help: 'Open connections.',
    })
    this.connectionsRefused = registry.counter({
      name: 'holdfast_http_connections_refused_total',
      help: 'Connections above the limit.',
    })
    this.#failures = registry.counter({
      name: 'holdfast_failures_total',
      help: 'Requests that failed for a reason of ours: the engine, the disk, a defect.',
    })
    const info = registry.gauge({
      name: 'holdfast_info',
      help: 'Always 1; the labels say what runs and how.',
      labels: ['engine', 'coordination'],
    })
    info.set(1, about.engine, about.coordination)
  }

  hear(event: WatchEvent): void {
    if (event.kind === 'reset') {
      this.#resets.add()
      this.#waits.forget()
    } else if (event.kind === 'refused') {
      this.refused(event.namespace, event.code ?? 'unknown')
    } else {
      const series = event.namespace === 'lock' ? this.#locks : this.#operations
      series[event.kind].value += 1
      this.#waits.hear(event)
    }
  }

  /** Also for what is refused before the engine is asked. */
  refused(kind: Limited, reason: string): void {
    this.#refusals.add(1, kind, reason)
  }

  failed(): void {
    this.#failures.add()
  }

  malformed(): void {
    this.#badRequests.add()
  }
}

/** Of every kind of event, by kind of lock. */
function countersOf(registry: Registry): Readonly<Record<CountedKind, Counter>> {
  const perKind = (name: string, help: string): Counter =>
    registry.counter({ name: `holdfast_${name}_total`, help, labels: ['kind'] })
  return {
    granted: perKind('grants', 'Holds, and steps of holds, that were granted.'),
    queued: perKind('queued', 'Requests that had to wait in a queue.'),
    released: perKind('releases', 'Steps of holds that their owners gave up.'),
    expired: perKind('expiries', 'Holds that ended because their lease ran out.'),
    disconnected: perKind('disconnects', 'Holds that ended with their session.'),
    forced: perKind('forced_releases', 'Holds that an operator ended.'),
    cancelled: perKind('cancels', 'Waiters that left, and grants that were undone.'),
    completed: perKind('completions', 'Operations that said how they ended, or were ended.'),
  }
}

function seriesOf(
  counters: Readonly<Record<CountedKind, Counter>>,
  kind: 'lock' | 'operation',
): EventSeries {
  return {
    granted: counters.granted.of(kind),
    queued: counters.queued.of(kind),
    released: counters.released.of(kind),
    expired: counters.expired.of(kind),
    disconnected: counters.disconnected.of(kind),
    forced: counters.forced.of(kind),
    cancelled: counters.cancelled.of(kind),
    completed: counters.completed.of(kind),
  }
}

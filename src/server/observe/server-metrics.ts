import { Counter, Gauge, type Registry } from 'prom-client'
import type { WatchEvent } from '../../engine/engine.ts'
import type { EventKind } from '../../law/model/events.ts'
import type { Route } from '../http/route.ts'
import { type Count, Counts } from './counts.ts'
import { SessionMetrics } from './session-metrics.ts'
import { WaitHistogram } from './wait-histogram.ts'
import { WaitTimes } from './wait-times.ts'

/** Of a session are refused: a watch, a request too many. */
const LIMITED = ['lock', 'operation', 'session'] as const
type Limited = (typeof LIMITED)[number]

type CountedKind = Exclude<EventKind, 'refused'>

const EVENTS: Readonly<Record<CountedKind, readonly [name: string, help: string]>> = {
  granted: ['grants', 'Holds, and steps of holds, that were granted.'],
  queued: ['queued', 'Requests that had to wait in a queue.'],
  released: ['releases', 'Steps of holds that their owners gave up.'],
  expired: ['expiries', 'Holds that ended because their lease ran out.'],
  disconnected: ['disconnects', 'Holds that ended with their session.'],
  forced: ['forced_releases', 'Holds that an operator ended.'],
  cancelled: ['cancels', 'Waiters that left, and grants that were undone.'],
  completed: ['completions', 'Operations that said how they ended, or were ended.'],
}

type EventCounts = Readonly<Record<CountedKind, Count>>

/**
 * What is counted as it happens. What comes with every command is a plain number; what is rare, or comes with
 * an HTTP request, which costs five hundred times as much, is counted by the registry's own means.
 */
export class ServerMetrics {
  readonly registry: Registry
  readonly sessions: SessionMetrics
  readonly connections: Gauge
  readonly connectionsRefused: Counter
  /** Connections whose clients did not read, cut because too much waited for all of them. */
  readonly connectionsCut: Counter
  /** Connections on which something came that is not HTTP, or came too slowly. */
  readonly malformed: Counter
  /** Requests that failed for a reason of ours. */
  readonly failures: Counter
  readonly #requests: Counter<'route' | 'status'>
  readonly #locks: EventCounts
  readonly #operations: EventCounts
  readonly #refusals: Counts
  readonly #resets: Counter
  readonly #waits: WaitTimes

  constructor(about: {
    readonly registry: Registry
    readonly engine: string
    readonly coordination: string
    readonly nowMs: () => number
  }) {
    const { registry, engine, coordination, nowMs } = about
    const registers = [registry]
    const counter = (name: string, help: string): Counter => new Counter({ name, help, registers })
    this.registry = registry
    // A series that begins with its first event hides that event from a rate.
    ;[this.#locks, this.#operations] = countEvents(registry)
    this.#refusals = new Counts(registry, {
      name: 'holdfast_refusals_total',
      help: 'Requests that were refused, by reason.',
      labelNames: ['kind', 'reason'],
    })
    for (const kind of LIMITED) this.#refusals.of(kind, 'limit')
    this.#resets = counter(
      'holdfast_event_resets_total',
      'Times that the engine lost track of its own events.',
    )
    this.#waits = new WaitTimes(new WaitHistogram(registry), nowMs)
    this.#requests = new Counter({
      name: 'holdfast_http_requests_total',
      help: 'Answered HTTP requests, by route and status.',
      labelNames: ['route', 'status'],
      registers,
    })
    this.sessions = new SessionMetrics(registry)
    this.malformed = counter(
      'holdfast_http_malformed_total',
      'Connections on which something came that is not HTTP, or came too slowly.',
    )
    this.connections = new Gauge({
      name: 'holdfast_http_connections',
      help: 'Open connections.',
      registers,
    })
    this.connectionsRefused = counter(
      'holdfast_http_connections_refused_total',
      'Connections above the limit.',
    )
    this.connectionsCut = counter(
      'holdfast_connections_cut_total',
      'Connections that were cut because too much waited for clients that did not read.',
    )
    this.failures = counter(
      'holdfast_failures_total',
      'Requests that failed for a reason of ours: the engine, the disk, a defect.',
    )
    new Gauge({
      name: 'holdfast_info',
      help: 'Always 1; the labels say what runs and how.',
      labelNames: ['engine', 'coordination'],
      registers,
    }).set({ engine, coordination }, 1)
  }

  /** What the engine tells of. */
  hear(event: WatchEvent): void {
    if (event.kind === 'reset') {
      this.#resets.inc()
      this.#waits.forget()
    } else if (event.kind === 'refused') {
      this.refused(event.namespace, event.code ?? 'unknown')
    } else {
      const counts = event.namespace === 'lock' ? this.#locks : this.#operations
      counts[event.kind].value += 1
      this.#waits.hear(event)
    }
  }

  /** Also for what is refused before the engine is asked. */
  refused(kind: Limited, reason: string): void {
    this.#refusals.of(kind, reason).value += 1
  }

  /**
   * An answered request. `undefined` stands for a path that no route has; the status of a request whose
   * client did not wait for one is `gone`. Nothing in the labels can be chosen by a client.
   */
  answered(route: Route | undefined, status: number | 'gone'): void {
    const label = route === undefined ? 'none' : `${route.method} ${route.path}`
    this.#requests.inc({ route: label, status })
  }
}

/** Of every kind of event, for locks and for operations. */
function countEvents(registry: Registry): readonly [locks: EventCounts, operations: EventCounts] {
  const locks: Partial<Record<CountedKind, Count>> = {}
  const operations: Partial<Record<CountedKind, Count>> = {}
  for (const [kind, [name, help]] of Object.entries(EVENTS) as [
    CountedKind,
    (typeof EVENTS)[CountedKind],
  ][]) {
    const counts = new Counts(registry, {
      name: `holdfast_${name}_total`,
      help,
      labelNames: ['kind'],
    })
    locks[kind] = counts.of('lock')
    operations[kind] = counts.of('operation')
  }
  return [locks as EventCounts, operations as EventCounts]
}

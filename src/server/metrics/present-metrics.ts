import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { StatsReply } from '../../engine/queries.ts'
import type { ServerContext } from '../server-context.ts'
import type { Counter, Gauge } from './registry.ts'

const LAG_RESOLUTION_MS = 10
const QUANTILES = [50, 99, 100]
const NS_PER_S = 1e9

type Present = Pick<ServerContext, 'engine' | 'held' | 'streams' | 'metrics' | 'log'>

/** What there is at the moment, read anew for everyone who asks. */
export class PresentMetrics {
  readonly #gauges: Readonly<Record<string, Gauge>>
  readonly #lag: Gauge
  readonly #cpu: Counter
  readonly #syncs: Counter
  readonly #bytes: Counter
  readonly #compactionFailures: Counter
  readonly #loop: IntervalHistogram = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS })
  readonly #context: Present
  /** What the log was told when somebody last looked. */
  #differences: readonly string[] = []

  constructor(context: Present) {
    this.#context = context
    const { registry } = context.metrics
    const gauge = (name: string, help: string): Gauge => registry.gauge({ name, help })
    this.#gauges = {
      keys: gauge('holdfast_keys', 'Keys that cost memory: held, waited for or remembered.'),
      holds: gauge('holdfast_holds', 'Holds at the moment.'),
      waiters: gauge('holdfast_waiters', 'Requests that wait in queues.'),
      sessions: gauge('holdfast_sessions', 'Sessions that are alive.'),
      references: gauge('holdfast_references', 'References of nodes to resources.'),
      differing: gauge(
        'holdfast_differing_servers',
        'Live servers on the same engine that decide by other settings than this one.',
      ),
      streams: gauge('holdfast_streams', 'Open event streams.'),
      heldRequests: gauge('holdfast_held_requests', 'HTTP requests that are held open.'),
      resident: gauge('process_resident_memory_bytes', 'Memory of the process.'),
      heap: gauge('holdfast_heap_used_bytes', 'Memory that objects take.'),
    }
    this.#lag = registry.gauge({
      name: 'holdfast_event_loop_lag_seconds',
      help: 'How late timers were since the last reading, by quantile.',
      labels: ['quantile'],
    })
    this.#cpu = registry.counter({
      name: 'process_cpu_seconds_total',
      help: 'Processor time of the process.',
    })
    const counter = (name: string, help: string): Counter => registry.counter({ name, help })
    this.#syncs = counter(
      'holdfast_journal_syncs_total',
      'Batches that were written to the journal and synced.',
    )
    this.#bytes = counter('holdfast_journal_written_bytes_total', 'Bytes of those batches.')
    this.#compactionFailures = counter(
      'holdfast_journal_compaction_failures_total',
      'Times that the journal could not be made shorter.',
    )
    this.#loop.enable()
  }

  /** The Prometheus text of everything. */
  async read(): Promise<string> {
    const { engine, held, streams, metrics } = this.#context
    const stats = await engine.read({ kind: 'stats' })
    for (const name of ['keys', 'holds', 'waiters', 'sessions', 'references'] as const) {
      this.#set(name, stats[name])
    }
    this.#set('streams', streams.size)
    this.#set('heldRequests', held.size)
    this.#readProcess()
    this.#readJournal(stats)
    this.#readDifferences(stats)
    return metrics.registry.write()
  }

  /** Looks at the other servers on the engine; what they decide otherwise is said in the log, once. */
  async open(): Promise<void> {
    this.#readDifferences(await this.#context.engine.read({ kind: 'stats' }))
  }

  close(): void {
    this.#loop.disable()
  }

  #set(name: string, value: number): void {
    this.#gauges[name]?.set(value)
  }

  #readProcess(): void {
    const { rss, heapUsed } = process.memoryUsage()
    this.#set('resident', rss)
    this.#set('heap', heapUsed)
    const { user, system } = process.cpuUsage()
    this.#cpu.reach((user + system) / 1e6)
    for (const percent of QUANTILES) {
      const lateNs = this.#loop.percentile(percent) - LAG_RESOLUTION_MS * 1e6
      this.#lag.set(Math.max(0, lateNs) / NS_PER_S, String(percent / 100))
    }
    this.#loop.reset()
  }

  #readDifferences({ differences = [] }: StatsReply): void {
    this.#set('differing', differences.length)
    for (const difference of differences) {
      if (this.#differences.includes(difference)) continue
      this.#context.log.warn(
        `another server on this engine has other settings, so locks depend on which one is asked: ${difference}`,
      )
    }
    this.#differences = differences
  }

  #readJournal({ journal }: StatsReply): void {
    if (journal === undefined) return
    this.#syncs.reach(journal.syncs)
    this.#bytes.reach(journal.bytes)
    this.#compactionFailures.reach(journal.compactionFailures)
  }
}

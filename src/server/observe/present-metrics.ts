import { Counter, Gauge } from 'prom-client'
import type { StatsReply } from '../../engine/queries.ts'
import type { ServerContext } from '../server-context.ts'

type Present = Pick<
  ServerContext,
  'engine' | 'held' | 'streams' | 'metrics' | 'log' | 'unsent' | 'limits'
>

const STATS = [
  ['keys', 'Keys that cost memory: held, waited for or remembered.'],
  ['holds', 'Holds at the moment.'],
  ['waiters', 'Requests that wait in queues.'],
  ['sessions', 'Sessions that are alive.'],
  ['references', 'References of nodes to resources.'],
] as const

const JOURNAL: readonly (readonly [
  name: string,
  help: string,
  of: 'syncs' | 'bytes' | 'compactionFailures',
])[] = [
  ['syncs', 'Batches that were written to the journal and synced.', 'syncs'],
  ['written_bytes', 'Bytes of those batches.', 'bytes'],
  [
    'compaction_failures',
    'Times that the journal could not be made shorter.',
    'compactionFailures',
  ],
]

/** What there is at the moment: the engine is asked when the registry is read, once for all of it. */
export class PresentMetrics {
  readonly #context: Present
  #reading: Promise<StatsReply> | undefined
  /** What the log was told when the engine was last asked. */
  #differences: readonly string[] = []

  constructor(context: Present) {
    this.#context = context
    const { held, streams, metrics, unsent, limits } = context
    const registers = [metrics.registry]
    const gauge = (name: string, help: string, read: () => number | Promise<number>): void => {
      const collect = async (): Promise<void> => metric.set(await read())
      const metric: Gauge = new Gauge({ name: `holdfast_${name}`, help, registers, collect })
    }
    for (const [name, help] of STATS) gauge(name, help, async () => (await this.#read())[name])
    gauge(
      'differing_servers',
      'Live servers on the same engine that decide by other settings than this one.',
      async () => (await this.#read()).differences?.length ?? 0,
    )
    gauge('disk_full', 'Whether changes are refused because the disk is full: 1 or 0.', async () =>
      (await this.#read()).journal?.full === undefined ? 0 : 1,
    )
    gauge('streams', 'Open event streams.', () => streams.size)
    gauge('held_requests', 'HTTP requests that are held open.', () => held.size)
    gauge('unsent_bytes', 'What clients have not taken yet of what was sent.', () => unsent.total)
    const limit = new Gauge({
      name: 'holdfast_limit',
      help: 'The limits of this server.',
      labelNames: ['limit'],
      registers,
    })
    for (const [name, value] of Object.entries(limits)) limit.set({ limit: name }, value)
    for (const [name, help, member] of JOURNAL) {
      const collect = async (): Promise<void> => {
        const { journal } = await this.#read()
        metric.reset()
        metric.inc(journal?.[member] ?? 0)
      }
      const metric: Counter = new Counter({
        name: `holdfast_journal_${name}_total`,
        help,
        registers,
        collect,
      })
    }
  }

  /** Looks at the other servers on the engine; what they decide otherwise is said in the log, once. */
  async open(): Promise<void> {
    await this.#read()
  }

  /** Metrics that are read in the same moment are answered from one reading. */
  #read(): Promise<StatsReply> {
    this.#reading ??= this.#readEngine().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readEngine(): Promise<StatsReply> {
    const { engine, log } = this.#context
    const stats = await engine.read({ kind: 'stats' })
    const { differences = [] } = stats
    for (const difference of differences) {
      if (this.#differences.includes(difference)) continue
      log.warn(
        `another server on this engine has other settings, so locks depend on which one is asked: ${difference}`,
      )
    }
    this.#differences = differences
    return stats
  }
}

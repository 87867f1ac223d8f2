import type { LockEngine } from '../../../src/engine/engine.ts'
import { isLockError } from '../../../src/engine/errors/errors.ts'
import type { Command } from '../../../src/law/model/commands.ts'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'
import type { HistoryMark, HistoryRecord } from '../../../src/testing/history.ts'
import { checkHistory, type HistoryReport } from '../../../src/testing/history-checks.ts'
import { HistoryRecorder } from '../../../src/testing/history-recorder.ts'
import { Random } from '../../../src/testing/random.ts'
import { toCheckableHistory } from '../../../src/testing/simulator/oracle/checkable-history.ts'
import { HostClock } from '../server/server-host-clock.ts'
import { SqlClient } from './sql-client.ts'

export interface SqlSceneOptions {
  readonly seed: string
  /** The clients are divided between these. */
  readonly engines: readonly LockEngine[]
  readonly clients?: number
  readonly ttlMs?: number
}

const CLIENTS = 12
const KEYS = { lock: 5, operation: 2 } as const
const TTL_MS = 30_000
/** Searches that need more than this are rare; what is undecided is not a pass. */
const SEARCH_STEPS_MAX = 5_000_000

/** The mark of a clock that is about to move: leases may end then, and successes may be forgotten. */
export const CLOCK_MOVES = 'clock moves'

const patience = new Patience(300_000)

/** Clients of a database in several processes, and the history of what they do while faults happen. */
export class SqlScene {
  readonly random: Random
  /** Failures by their code and by what they say of their effect. */
  readonly failures: Map<string, number> = new Map()
  readonly #recorder: HistoryRecorder
  readonly #clients: readonly SqlClient[]
  /** An operation without an answer multiplies the search for a legal order, so keys change now and then. */
  #generation = 0
  #isOver = false
  #working: Promise<unknown> = Promise.resolve()

  constructor({ seed, engines, clients = CLIENTS, ttlMs = TTL_MS }: SqlSceneOptions) {
    const clock = new HostClock()
    this.random = new Random(seed)
    this.#recorder = new HistoryRecorder(clock)
    this.#clients = Array.from({ length: clients }, (_, index) => {
      const name = `client-${index}`
      return new SqlClient({
        name,
        engine: engines[index % engines.length] as LockEngine,
        recorder: this.#recorder,
        clock,
        random: this.random.fork(name),
        ttlMs,
        pickKey: (random, space) =>
          `${seed}/${space}-${this.#generation}-${random.int(1, KEYS[space])}`,
        isOver: () => this.#isOver,
        onFailure: (command, error) => this.#noteFailure(command, error),
      })
    })
  }

  start(): void {
    this.#working = Promise.all(this.#clients.map((client) => client.work()))
    this.#working.catch(() => {})
  }

  get answered(): number {
    return this.#clients.reduce((sum, { answered }) => sum + answered, 0)
  }

  /** How many of those wait for an answer. */
  countAsking(those: (index: number) => boolean): number {
    return this.#clients.filter(({ isAsking }, index) => isAsking && those(index)).length
  }

  changeKeys(): void {
    this.#generation += 1
  }

  /** A deed of the nemesis. */
  mark(name: string, fields?: Pick<HistoryMark, 'proc' | 'detail'>): void {
    this.#recorder.mark(name, fields)
  }

  /** Until so many more calls have been answered. */
  async untilAnswered(count: number): Promise<void> {
    const target = this.answered + count
    const isDone = (): boolean => this.answered >= target
    await Promise.race([
      patience.until(isDone, `${count} more calls are answered`),
      this.#working.then(() => patience.until(isDone, 'the clients go on')),
    ])
  }

  /** Everybody finishes what they are at. Returns how many can then have a lock and give it back. */
  async end(those: (index: number) => boolean = () => true): Promise<number> {
    this.#isOver = true
    await this.#working
    const served = await Promise.all(
      this.#clients.filter((_, index) => those(index)).map((client) => client.isServed()),
    )
    return served.filter(Boolean).length
  }

  /** Whether there is a legal explanation for everything that everyone was told. */
  check(): HistoryReport {
    const history = toCheckableHistory(this.#recorder.history(), () => false)
    const options = { stepsMax: SEARCH_STEPS_MAX, queueSurvivesRestart: true }
    const moves = history.flatMap((record) =>
      record.kind === 'mark' && record.name === CLOCK_MOVES ? record.at : [],
    )
    if (moves.length === 0) return checkHistory(history, options)
    const cut = history.map((record) => cutLease(record, moves))
    return checkHistory(cut, { ...options, retentionMs: 0, retentionMsMax: Infinity })
  }

  #noteFailure(command: Command, error: unknown): void {
    const what = isLockError(error) ? `${error.code}, applied: ${error.applied}` : String(error)
    const name = `${command.kind}: ${what}`
    this.failures.set(name, (this.failures.get(name) ?? 0) + 1)
  }
}

/** The same with a lease that nobody could rely on after the next move of the clock. */
function cutLease(record: HistoryRecord, moves: readonly number[]): HistoryRecord {
  if (record.kind !== 'op' || record.ttlMs === undefined) return record
  const next = moves.find((at) => at >= record.call) ?? Infinity
  return { ...record, ttlMs: Math.min(record.ttlMs, next - record.call) }
}

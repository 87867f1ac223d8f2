import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { StatsReply } from '../../../src/engine/queries.ts'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'
import { type HistoryEntry, type HistoryRecord, loadHistory } from '../../../src/testing/history.ts'
import { checkHistory, type HistoryReport } from '../../../src/testing/history-checks.ts'
import { Random } from '../../../src/testing/random.ts'
import { toCheckableHistory } from '../../../src/testing/simulator/oracle/checkable-history.ts'
import { NOT_APPLIED } from '../../../src/testing/simulator/recorded-engine.ts'
import { findFreePort } from '../../services/free-port.ts'
import { HostClock } from './server-host-clock.ts'
import { ServerLife } from './server-life.ts'
import type { LoadNews, LoadOptions, LoadOrder, LoadReport } from './server-messages.ts'

const LOAD = fileURLToPath(new URL('server-load.ts', import.meta.url))
/** Searches that need more than this are rare; what is undecided is not a pass. */
const SEARCH_STEPS_MAX = 5_000_000

const patience = new Patience(300_000)
/** Longer than a client is out of reach of the server, however busy the machine. */
const TTL_MS = 120_000
/** Longer than the lease of a hold that was left behind. */
const WAIT_MS = 180_000

export interface SceneOptions extends Pick<LoadOptions, 'sessions' | 'restMsMax'> {
  readonly seed: string
  readonly graceMs: number
  /** How long a client waits for a lock; three minutes by default. */
  readonly waitMs?: number
  /** How long a hold lasts that nothing renews; two minutes by default. */
  readonly ttlMs?: number
  /** Processes that the clients are divided between. */
  readonly processes: number
}

interface Load {
  readonly child: ChildProcess
  readonly historyPath: string
  answered: number
  latestCallMs: number
  isOpened: boolean
  report: LoadReport | undefined
}

/** A server, the processes that put load on it, and the history of what happens between them. */
export class ServerScene {
  readonly random: Random
  readonly #options: SceneOptions
  readonly #clock = new HostClock()
  readonly #directory = mkdtempSync(join(tmpdir(), 'holdfast-server-'))
  readonly #marks: HistoryRecord[] = []
  readonly #loads: Load[] = []
  #port = 0
  #life: ServerLife | undefined
  #data = 'data'
  #markedAtMs = 0

  constructor(options: SceneOptions) {
    this.#options = options
    this.random = new Random(options.seed)
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get server(): ServerLife {
    return this.#life as ServerLife
  }

  /** Resolves when every client is connected. */
  async open(): Promise<void> {
    this.#port = await findFreePort()
    await this.#start()
    const { processes } = this.#options
    for (let index = 0; index < processes; index += 1) this.#loads.push(this.#fork(index))
    await this.#until(() => this.#loads.every(({ isOpened }) => isOpened), 'everyone is connected')
  }

  mark(name: string): void {
    this.#markedAtMs = this.#clock.nowMs()
    this.#marks.push({ kind: 'mark', name, at: this.#markedAtMs })
  }

  /** Resolves when so many more calls have gone well, one of them begun since the latest mark. */
  async untilAnswered(count: number): Promise<void> {
    const target = this.#answered + count
    const isFresh = ({ latestCallMs }: Load): boolean => latestCallMs > this.#markedAtMs
    await this.#until(
      () => this.#answered >= target && this.#loads.some(isFresh),
      `${count} calls go well`,
    )
  }

  async kill(): Promise<void> {
    this.mark('crash')
    await this.server.kill()
  }

  /** Returns how it ended and how long that took. */
  async stop(): Promise<{ readonly code: number | null; readonly tookMs: number }> {
    this.mark('crash')
    const sinceMs = this.#clock.nowMs()
    const code = await this.server.stop()
    return { code, tookMs: this.#clock.nowMs() - sinceMs }
  }

  /** On the same port and, unless another one is named, on the same directory. */
  async restart(data: string = this.#data): Promise<void> {
    this.#data = data
    await this.#start()
    this.mark('restart')
  }

  /** Other keys from now on: calls without an answer multiply the search for a legal order. */
  changeKeys(generation: number): void {
    this.#order({ kind: 'generation', generation })
  }

  /** Everyone ends what was begun, is served once more, and leaves. */
  async heal(): Promise<LoadReport> {
    this.#order({ kind: 'heal' })
    await this.#until(
      () => this.#loads.every(({ report }) => report !== undefined),
      'all have left',
    )
    const reports = this.#loads.map(({ report }) => report as LoadReport)
    const unavailable: Record<string, number> = {}
    for (const report of reports) {
      for (const [name, count] of Object.entries(report.unavailable)) {
        unavailable[name] = (unavailable[name] ?? 0) + count
      }
    }
    return {
      served: reports.reduce((sum, { served }) => sum + served, 0),
      losses: reports.reduce((sum, { losses }) => sum + losses, 0),
      problems: reports.flatMap(({ problems }) => problems),
      unavailable,
    }
  }

  async stats(): Promise<StatsReply> {
    const response = await fetch(`${this.url}/v1/stats`)
    return (await response.json()) as StatsReply
  }

  /** Once all have left. Every process has its own numbers, so they are given anew. */
  history(): HistoryRecord[] {
    const told = this.#loads.flatMap(({ historyPath }) =>
      loadHistory(readFileSync(historyPath, 'utf8')),
    )
    const numbered = [...told, ...this.#marks].map((record, id) =>
      record.kind === 'op' ? toAborted({ ...record, id }) : record,
    )
    return toCheckableHistory(numbered, () => false)
  }

  async close(): Promise<void> {
    for (const { child } of this.#loads) child.kill('SIGKILL')
    this.#life?.resume()
    await this.#life?.kill()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  get #answered(): number {
    return this.#loads.reduce((sum, { answered }) => sum + answered, 0)
  }

  async #start(): Promise<void> {
    const directory = join(this.#directory, this.#data)
    const { graceMs } = this.#options
    this.#life = await ServerLife.start({ directory, port: this.#port, graceMs })
  }

  #fork(index: number): Load {
    const { sessions, processes, seed, restMsMax } = this.#options
    const { waitMs = WAIT_MS, ttlMs = TTL_MS } = this.#options
    const historyPath = join(this.#directory, `history-${index}`)
    const options: LoadOptions = {
      url: this.url,
      name: `p${index}`,
      seed: `${seed}/${index}`,
      sessions: Math.ceil(sessions / processes),
      restMsMax,
      waitMs,
      ttlMs,
      historyPath,
    }
    const child = fork(LOAD, [JSON.stringify(options)], { execArgv: ['--import', 'tsx'] })
    const load: Load = {
      child,
      historyPath,
      answered: 0,
      latestCallMs: 0,
      isOpened: false,
      report: undefined,
    }
    child.on('message', (news: LoadNews) => {
      if (news.kind === 'opened') load.isOpened = true
      else if (news.kind === 'done') load.report = news.report
      else Object.assign(load, { answered: news.count, latestCallMs: news.latestCallMs })
    })
    // An order to a process that is gone; the wait for its answer says the rest.
    child.on('error', () => {})
    return load
  }

  #order(order: LoadOrder): void {
    for (const { child } of this.#loads) child.send(order)
  }

  async #until(condition: () => boolean, what: string): Promise<void> {
    await patience.until(() => {
      if (condition()) return true
      const ended = this.#loads.find(({ child, report }) => {
        return report === undefined && (child.exitCode !== null || child.signalCode !== null)
      })
      if (ended !== undefined) throw new Error(`a client process is gone before ${what}`)
      return false
    }, what)
  }
}

/** A wait that was given up has no effect in the end, but may have been granted and undone meanwhile. */
function toAborted(entry: HistoryEntry): HistoryEntry {
  const isAborted = entry.op === 'acquire' && entry.code === NOT_APPLIED
  return isAborted ? { ...entry, code: 'aborted', outcome: 'info', ret: Infinity } : entry
}

/** The calls that were given up on, leaving out those that nobody can repeat without harm. */
export function unexpectedlyUnavailable({ unavailable }: LoadReport): string[] {
  const isUnrepeatable = /^(?:release|cancel|unref), applied: maybe$/
  return Object.keys(unavailable).filter((name) => !isUnrepeatable.test(name))
}

/** Whether there is a legal explanation for everything that everyone was told. */
export function checkServerHistory(history: readonly HistoryRecord[]): HistoryReport {
  return checkHistory(history, { clockRateError: 0, stepsMax: SEARCH_STEPS_MAX })
}

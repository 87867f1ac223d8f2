import { isLockError } from '../../../engine/errors/errors.ts'
import type { HistoryRecorder } from '../../history-recorder.ts'
import type { Random } from '../../random.ts'
import type { VirtualClock } from '../../virtual-clock.ts'
import type { BeliefBoard } from '../oracle/belief-board.ts'
import type { Client } from '../clients/client-context.ts'
import { runLockClient } from '../clients/lock-client.ts'
import { runOperationClient } from '../clients/operation-client.ts'
import { runSdkClient } from '../clients/sdk-client.ts'
import { runSessionClient } from '../clients/session-client.ts'
import { runWatchClient } from '../clients/watch-client.ts'
import type { EngineHost } from '../engine-host.ts'
import type { FencedRegister } from '../oracle/fenced-register.ts'
import type { Problems } from '../problems.ts'
import { ProcessClock } from '../process-clock.ts'
import { RecordedEngine } from '../recorded-engine.ts'
import { SimulatedLink } from './simulated-link.ts'
import type { SimulatedNetwork } from './simulated-network.ts'
import { SimulatedProcess } from '../simulated-process.ts'
import type { ClientKind, ClientPlan, Workload } from '../simulation-plan.ts'
import type { Trace } from '../trace.ts'
import type { WatchBoard } from '../oracle/watch-board.ts'

const CLIENTS: Readonly<Record<ClientKind, Client>> = {
  lock: runLockClient,
  session: runSessionClient,
  operation: runOperationClient,
  sdk: runSdkClient,
  watch: runWatchClient,
}

/** What all clients of a simulation share. */
export interface ClientSurroundings {
  readonly world: VirtualClock
  readonly random: Random
  readonly network: SimulatedNetwork
  readonly host: EngineHost
  readonly recorder: HistoryRecorder
  readonly workload: Workload
  readonly register: FencedRegister
  readonly beliefs: BeliefBoard
  readonly watches: WatchBoard
  readonly problems: Problems
  readonly trace: Trace
  isHealed(): boolean
}

/** One client through all its lives: it can be cut off, paused, killed and started again. */
export class SimulatedClient {
  readonly name: string
  readonly #plan: ClientPlan
  readonly #around: ClientSurroundings
  #lives = 0
  #process: SimulatedProcess | undefined
  #link: SimulatedLink | undefined
  #engine: RecordedEngine | undefined
  #answeredBefore = 0
  #isDone = false

  constructor(plan: ClientPlan, around: ClientSurroundings) {
    this.name = plan.name
    this.#plan = plan
    this.#around = around
  }

  /** It has shown after the healing that everything works, and has left. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** How many of its calls went well. */
  get answered(): number {
    return this.#answeredBefore + (this.#engine?.answered ?? 0)
  }

  start(): void {
    this.#lives += 1
    const { name, kind, clockRate: rate } = this.#plan
    const { world, network, host, recorder, trace, watches } = this.#around
    const id = `${name}.${this.#lives}`
    const random = this.#around.random.fork(id)
    const process = new SimulatedProcess(id, world)
    const clock = new ProcessClock(world, process, { nowMs: random.int(0, 1_000_000), rate })
    const link = new SimulatedLink({
      ...{ world, network, host, watches, process, clock },
      random: random.fork('link'),
    })
    const engine = new RecordedEngine({ proc: id, engine: link, recorder, clock: world })
    this.#answeredBefore = this.answered
    this.#process = process
    this.#link = link
    this.#engine = engine
    trace.note(id, `starts as ${kind}`)
    const context = { ...this.#around, name, id, engine, clock, random, process }
    CLIENTS[kind](context).then(
      () => this.#onDone(id),
      (error: unknown) => this.#onError(id, error),
    )
  }

  cut(downMs: number): void {
    this.#link?.cut({ downMs })
  }

  silence(direction: 'toEngine' | 'toClient', forMs: number): void {
    this.#link?.silence(direction, forMs)
  }

  pause(forMs: number): void {
    const process = this.#process
    process?.pause()
    this.#around.world.setTimer(forMs, () => process?.resume())
  }

  /** It ends without a word, and comes back under its old name with nothing that it knew. */
  crash(downMs: number): void {
    this.#process?.kill()
    this.#around.world.setTimer(downMs, () => {
      if (this.#process?.isDead === true) this.start()
    })
  }

  heal(): void {
    this.#link?.heal()
    this.#process?.resume()
    if (this.#process?.isDead === true) this.start()
  }

  #onDone(id: string): void {
    this.#isDone = true
    this.#around.trace.note(id, 'is done')
  }

  #onError(id: string, error: unknown): void {
    const what = isLockError(error) ? `${error.code}: ${error.message}` : String(error)
    const stack = error instanceof Error ? (error.stack ?? '') : ''
    this.#around.problems.add('no defect', `client ${id} failed: ${what} ${stack}`)
  }
}

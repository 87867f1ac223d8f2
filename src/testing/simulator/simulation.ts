import type { Capabilities } from '../../engine/capabilities.ts'
import { DEFAULT_SETTINGS } from '../../engine/validation/default-settings.ts'
import type { HistoryRecord } from '../history.ts'
import { HistoryRecorder } from '../history-recorder.ts'
import { Random } from '../random.ts'
import { SimulatedDisk } from '../simulated-disk.ts'
import { VirtualClock } from '../virtual-clock.ts'
import { BeliefBoard } from './oracle/belief-board.ts'
import { toCheckableHistory } from './oracle/checkable-history.ts'
import { DiskTrouble } from './disk-trouble.ts'
import { EngineHost } from './engine-host.ts'
import { EngineWitness } from './oracle/engine-witness.ts'
import { FaultLog } from './fault-log.ts'
import { FencedRegister } from './oracle/fenced-register.ts'
import { Nemesis } from './nemesis.ts'
import type { OpenSimulatedEngine } from './open-simulated-engine.ts'
import { Problems } from './problems.ts'
import { SimulatedClient } from './network/simulated-client.ts'
import { SimulatedNetwork } from './network/simulated-network.ts'
import type { SimulationPlan } from './simulation-plan.ts'
import { Trace } from './trace.ts'
import { WatchBoard } from './oracle/watch-board.ts'

/** As a client over a network knows an engine before it has spoken with it. */
const CAPABILITIES: Capabilities = Object.freeze({
  name: 'simulated',
  durable: true,
  shared: false,
  seesDeadlocks: true,
  leaseGranularityMs: 1,
  ttlMsMin: 100,
  wakeDelayMsMax: 0,
  waitersPerKeyMax: DEFAULT_SETTINGS.waitersPerKeyMax,
  queueSurvivesRestart: false,
  history: false,
})

/** After the faults ended, whatever was still under way has arrived by then. */
const LATE_MESSAGES_MS = 3_000

/** Everyone must have made progress this long after the faults ended. */
const RECOVERY_MS_MAX = 120_000

/** A run that is still busy after so many steps goes round in circles. */
const RECOVERY_STEPS_MAX = 50_000

/** Time that does not pass for so many steps never will. */
const STANDSTILL_STEPS_MAX = 5_000

/** After this long nothing must be left: the longest lease, and twice what is remembered. */
const RESIDUE_MS = 200_000

/** One world: a clock, a network, a disk, an engine, its clients, and who torments them. */
export class Simulation {
  readonly clock: VirtualClock = new VirtualClock()
  readonly trace: Trace = new Trace(this.clock)
  readonly problems: Problems = new Problems()
  readonly log: FaultLog = new FaultLog()
  readonly clients: readonly SimulatedClient[]
  readonly #recorder: HistoryRecorder = new HistoryRecorder(this.clock)
  readonly #plan: SimulationPlan
  readonly #network: SimulatedNetwork
  readonly #disk: DiskTrouble
  readonly #host: EngineHost
  readonly #witness: EngineWitness
  readonly #beliefs: BeliefBoard
  readonly #watches: WatchBoard
  readonly #nemesis: Nemesis
  #isHealed = false
  #steps = 0
  #standstill = 0

  constructor(plan: SimulationPlan, open: OpenSimulatedEngine) {
    this.#plan = plan
    const { clock, trace, problems, log } = this
    const recorder = this.#recorder
    const { faults, workload } = plan
    const seed = new Random(plan.seed)
    this.#witness = new EngineWitness({
      ...{ problems, trace },
      onPlacesLost: (session, index) =>
        recorder.mark('silence', { session, detail: String(index) }),
      onSessionEnd: (session, index) =>
        recorder.mark('disconnect', { session, detail: String(index) }),
    })
    this.#beliefs = new BeliefBoard(problems)
    this.#watches = new WatchBoard(problems, trace)
    this.#network = new SimulatedNetwork({ clock, random: seed.fork('network'), faults, log })
    this.#disk = this.#createDiskTrouble(seed.fork('disk faults'))
    this.#host = this.#createHost(seed, open)
    const around = {
      ...{ trace, problems, recorder, workload, world: clock },
      ...{ network: this.#network, host: this.#host, beliefs: this.#beliefs },
      watches: this.#watches,
      random: seed.fork('workload'),
      register: new FencedRegister(problems),
      isHealed: () => this.#isHealed,
    }
    this.clients = plan.clients.map((client) => new SimulatedClient(client, around))
    this.#nemesis = new Nemesis({
      ...{ clock, faults, recorder, log, trace, clients: this.clients },
      ...{ host: this.#host, disk: this.#disk, gapMs: plan.nemesisGapMs },
      random: seed.fork('nemesis'),
    })
  }

  get steps(): number {
    return this.#steps
  }

  #createDiskTrouble(random: Random): DiskTrouble {
    const { clock, log } = this
    return new DiskTrouble({
      ...{ clock, random, log },
      onCrash: () => this.#host.ended(random.int(0, 1_000)),
    })
  }

  #createHost(seed: Random, open: OpenSimulatedEngine): EngineHost {
    const { trace, problems } = this
    const recorder = this.#recorder
    const { settings, compactMinBytes, preallocateBytes } = this.#plan
    const trouble = this.#disk
    return new EngineHost({
      ...{ trace, problems, recorder, open, settings, compactMinBytes, preallocateBytes },
      world: this.clock,
      random: seed.fork('engine'),
      salts: seed.fork('salts'),
      witness: this.#witness,
      watches: this.#watches,
      capabilities: CAPABILITIES,
      diskFaults: () => trouble.faults,
      disk: new SimulatedDisk({
        random: seed.fork('disk'),
        defer: trouble.defer,
        fault: trouble.fault,
      }),
    })
  }

  /** What the clients saw, for the checks. */
  history(): HistoryRecord[] {
    const isForgotten = (index: number): boolean => this.#witness.isForgotten(index)
    return toCheckableHistory(this.#recorder.history(), isForgotten)
  }

  /** Anything may go wrong, for as many steps. */
  async torment(steps: number): Promise<void> {
    this.#host.start()
    for (const client of this.clients) client.start()
    this.#nemesis.start()
    while (this.#steps < steps && (await this.#step())) {
      // Each step has been checked.
    }
  }

  /** Nothing goes wrong any more; everyone must get what it wants, and leave. */
  async heal(): Promise<void> {
    this.trace.note('nemesis', 'stops')
    this.#nemesis.stop()
    this.#network.heal()
    this.#disk.heal()
    this.#host.heal()
    for (const client of this.clients) client.heal()
    if (!(await this.#runFor(LATE_MESSAGES_MS))) return
    this.#recorder.mark('healed')
    this.#isHealed = true
    const untilMs = this.clock.nowMs() + RECOVERY_MS_MAX
    const stepsMax = this.#steps + RECOVERY_STEPS_MAX
    while (this.clients.some(({ isDone }) => !isDone)) {
      const isLate = this.clock.nowMs() > untilMs || this.#steps > stepsMax
      if (isLate || !(await this.#step())) return this.#reportStuck()
    }
  }

  #reportStuck(): void {
    if (this.problems.first !== undefined) return
    const stuck = this.clients.filter(({ isDone }) => !isDone).map(({ name }) => name)
    const afterMs = RECOVERY_MS_MAX
    this.problems.add('L10 recovery', `${stuck.join(', ')} got nowhere in ${afterMs} ms`)
  }

  /** When all have left and all is forgotten, nothing is there any more. */
  async rest(): Promise<void> {
    if (!(await this.#runFor(RESIDUE_MS))) return
    const engine = this.#host.engine
    if (engine === undefined) return this.problems.add('L10 recovery', 'the engine is not up')
    const { journal: _, events: __, ...stats } = await engine.read({ kind: 'stats' })
    const isEmpty = Object.values(stats).every((count) => count === 0)
    if (!isEmpty) this.problems.add('L9 no residue', `left behind: ${JSON.stringify(stats)}`)
  }

  /** Whether all was well for so long. */
  async #runFor(forMs: number): Promise<boolean> {
    const untilMs = this.clock.nowMs() + forMs
    while ((this.clock.nextTimerAtMs ?? Infinity) <= untilMs) {
      if (!(await this.#step())) return false
    }
    await this.clock.advance(Math.max(0, untilMs - this.clock.nowMs()))
    return true
  }

  /** One event and all that follows from it at once. False when there is none, or something is wrong. */
  async #step(): Promise<boolean> {
    this.#steps += 1
    const beforeMs = this.clock.nowMs()
    const isMoving = await this.clock.runNext()
    this.#standstill = this.clock.nowMs() > beforeMs ? 0 : this.#standstill + 1
    if (this.#standstill > STANDSTILL_STEPS_MAX) {
      this.problems.add('L10 recovery', 'something goes round in circles and takes no time')
    }
    this.#witness.checkStep(this.#host.isOnTime)
    this.#beliefs.checkStep()
    return isMoving && this.problems.first === undefined
  }
}

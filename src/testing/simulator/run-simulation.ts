import { checkHistory } from '../history-checks.ts'
import type { FaultKind } from './fault-kinds.ts'
import type { OpenSimulatedEngine } from './open-simulated-engine.ts'
import type { Problem } from './problems.ts'
import { Simulation } from './simulation.ts'
import { createPlan, type PlanOptions, type SimulationPlan } from './simulation-plan.ts'
import { toLine, type Trace } from './trace.ts'

export interface SimulationOptions extends PlanOptions {
  readonly seed: number | string
  readonly open: OpenSimulatedEngine
  /** How many events happen before the faults end; 400 by default. */
  readonly steps?: number | undefined
}

export interface SimulationReport {
  readonly plan: SimulationPlan
  /** The first thing that was wrong; absent when nothing was. */
  readonly problem: Problem | undefined
  /** The same for every run with the same options. */
  readonly hash: string
  readonly trace: Trace
  readonly steps: number
  readonly virtualMs: number
  /** How many calls of clients were answered. */
  readonly answered: number
  /** How often each fault happened. */
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>
}

const STEPS_DEFAULT = 400

/** The clocks of clients may differ from the engine's by 1 %. */
const CLOCK_RATE_ERROR = 0.01

/** Runs one seed from beginning to end and says what was wrong, if anything was. */
export async function runSimulation(options: SimulationOptions): Promise<SimulationReport> {
  const plan = createPlan(options.seed, options)
  const simulation = new Simulation(plan, options.open)
  const { problems, clients, log, trace, clock } = simulation
  const isFine = (): boolean => problems.first === undefined
  await simulation.torment(options.steps ?? STEPS_DEFAULT)
  if (isFine()) await simulation.heal()
  if (isFine()) await simulation.rest()
  if (isFine()) checkRecorded(simulation, plan)
  return {
    plan,
    problem: problems.first,
    hash: trace.hash(),
    trace,
    steps: simulation.steps,
    virtualMs: clock.nowMs(),
    answered: clients.reduce((sum, client) => sum + client.answered, 0),
    faults: log.counts(),
  }
}

/** What the clients saw must be explicable by a lock that works. */
function checkRecorded(simulation: Simulation, plan: SimulationPlan): void {
  const { claimWindowMs, waiterPatienceMs = Infinity, retentionMs } = plan.settings
  const { violations } = checkHistory(simulation.history(), {
    clockRateError: CLOCK_RATE_ERROR,
    retentionMs,
    // A restart begins to count anew, and there may be many.
    retentionMsMax: Infinity,
    // A grant that nobody takes notice of ends with its lease at the latest.
    waiterSilenceMs: Math.min(claimWindowMs, waiterPatienceMs, ...plan.workload.ttlsMs),
    updateRequiresNoRef: plan.settings.updateRequiresNoRef ?? false,
    // The order in which things took effect need not be searched for: the witness has seen it.
    stepsMax: 0,
    successRatioMin: 0,
  })
  for (const { property, message, entries } of violations) {
    const records = entries.map((entry) => `\n    ${toLine(entry)}`).join('')
    simulation.problems.add(`history: ${property}`, message + records)
  }
}

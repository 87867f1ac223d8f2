/** The simulator: one seed, one world, one answer. */
export { type FailureTextOptions, toFailureText } from './failure-text.ts'
export { FAULT_KINDS, type FaultKind, isFaultKind } from './fault-kinds.ts'
export type { OpenSimulatedEngine, SimulatedEngineOptions } from './open-simulated-engine.ts'
export type { Problem } from './problems.ts'
export { runSimulation, type SimulationOptions, type SimulationReport } from './run-simulation.ts'
export { shrinkFailure, type ShrunkFailure } from './shrink.ts'
export type { ClientKind, ClientPlan, SimulationPlan, Workload } from './simulation-plan.ts'
export type { Trace } from './trace.ts'

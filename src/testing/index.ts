/**
 * For those who write an engine, or test what they built on one: the conformance suite, a virtual
 * clock, recorded histories and their checks, and a proxy that breaks connections on purpose.
 */
export type { CheckOptions } from './checks/check-options.ts'
export type { Violation } from './checks/violation.ts'
export { type CollectedTest, collectEngineTests } from './engine-suite/collect-engine-tests.ts'
export type * from './engine-suite/engine-fixture.ts'
export type { EngineRig } from './engine-suite/engine-rig.ts'
export type { EngineNeed, EngineSuite, EngineTest } from './engine-suite/engine-test.ts'
export { ENGINE_SUITES } from './engine-suite/index.ts'
export {
  runEngineSuites,
  type TestContext,
  type TestRunner,
} from './engine-suite/run-engine-suites.ts'
export type { EngineTestResult } from './engine-suite/run-engine-test.ts'
export type * from './fault.ts'
export { FaultProxy, type FaultProxyOptions } from './fault-proxy.ts'
export * from './history.ts'
export { checkHistory, type HistoryReport } from './history-checks.ts'
export { HistoryRecorder, type PendingCall } from './history-recorder.ts'
export * from './linearizability.ts'
export * from './models/read-write-lock.ts'
export * from './models/reference-set.ts'
export { Random } from './random.ts'
export * from './simulator/index.ts'
export { VirtualClock, type VirtualClockOptions } from './virtual-clock.ts'

import type { LawSettings } from '../../law/model/settings.ts'
import type { EngineRig } from './engine-rig.ts'

/** One property of every engine, and the tests that show it. */
export interface EngineSuite {
  readonly name: string
  readonly tests: readonly EngineTest[]
}

export interface EngineTest extends EngineTestOptions {
  /** A fact in the present tense, unique in its suite. */
  readonly title: string
  run(rig: EngineRig): Promise<void>
}

export interface EngineTestOptions {
  /** What the engine is opened with. Durations are stretched on a real clock like every other. */
  readonly settings?: Partial<LawSettings>
  readonly needs?: EngineNeed
}

/**
 * What not every engine has, so that a test which needs it is skipped on the others. All but
 * `virtual-time` are promises of the engine's capabilities: one that makes the promise is tested for
 * it, whether or not its fixture is ready.
 */
export type EngineNeed =
  | 'virtual-time'
  | 'deadlocks'
  | 'durable'
  | 'durable-queue'
  | 'durable-history'
  | 'history'
  | 'shared'

type Run = EngineTest['run']

export function engineTest(title: string, run: Run): EngineTest
export function engineTest(title: string, options: EngineTestOptions, run: Run): EngineTest
export function engineTest(
  title: string,
  optionsOrRun: EngineTestOptions | Run,
  run?: Run,
): EngineTest {
  if (typeof optionsOrRun === 'function') return { title, run: optionsOrRun }
  if (run === undefined) throw new TypeError(`the test "${title}" does nothing`)
  return { title, run, ...optionsOrRun }
}

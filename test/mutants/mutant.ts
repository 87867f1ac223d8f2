import type { LockEngine } from '../../src/engine/engine.ts'
import { openMemoryEngine } from '../../src/engines/embedded/embedded-engine.ts'
import type { Law } from '../../src/law/decide.ts'
import type { EngineFixture } from '../../src/testing/engine-suite/engine-fixture.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { createMemoryFixture } from '../conformance/fixtures/embedded-fixtures.ts'

/** An engine that is wrong in one way, as lock systems have been known to be wrong. */
export interface Mutant {
  readonly name: string
  /** The fault that it imitates, in one line. */
  readonly fault: string
  /** The test that must fail on it, as `suite: title`. */
  readonly killedBy: string
  readonly fixture: EngineFixture
}

/** What is said about every mutant, however it is made. */
export type MutantFacts = Omit<Mutant, 'fixture'>

/** A wrong engine often does not answer at all; that must not be waited for long. */
const MUTANT_PATIENCE_MS = 250

/** The embedded engine under another law. Each engine has a law of its own, which may remember. */
export function lawMutant(facts: MutantFacts, createLaw: () => Law): Mutant {
  const open: EngineFixture['open'] = (options) =>
    createMemoryFixture({ law: createLaw() }).open(options)
  return { ...facts, fixture: { name: facts.name, patienceMs: MUTANT_PATIENCE_MS, open } }
}

/** The embedded engine behind something that distorts what goes in or comes out. */
export function engineMutant(
  facts: MutantFacts,
  wrap: (engine: LockEngine, clock: VirtualClock) => LockEngine,
): Mutant {
  const open: EngineFixture['open'] = async ({ settings } = {}) => {
    const clock = new VirtualClock()
    const engine = openMemoryEngine({ clock, settings, history: true })
    return {
      engine: wrap(engine, clock),
      clock,
      advance: (ms) => clock.advance(ms),
      close: () => engine.close(),
    }
  }
  return { ...facts, fixture: { name: facts.name, patienceMs: MUTANT_PATIENCE_MS, open } }
}

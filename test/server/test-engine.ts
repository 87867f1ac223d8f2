import type { LockEngine } from '../../src/engine/engine.ts'
import {
  type EmbeddedOptions,
  openMemoryEngine,
} from '../../src/engines/embedded/embedded-engine.ts'
import type { VirtualClock } from '../../src/testing/virtual-clock.ts'

type TestEngineOptions = Pick<EmbeddedOptions, 'settings' | 'clock' | 'history'>

export type OpenTestEngine = (options: TestEngineOptions) => Promise<LockEngine>

let open: OpenTestEngine = async (options) => openMemoryEngine(options)

/** Longer leaps would pass leases before their renewals could reach a database. */
const LEAP_MS = 1_000
/** Whoever watches a database would lose track if much more than this passed in a moment. */
const TOLD_EVERY_MS = 10_000

/**
 * A new engine, empty, for a test of the server: in memory, unless the test file has chosen another. With
 * a clock, that one decides.
 */
export function openTestEngine(options: TestEngineOptions = {}): Promise<LockEngine> {
  return open(options)
}

/** For the rest of this test file, servers are tested on these engines. */
export function chooseTestEngine(chosen: OpenTestEngine): void {
  open = chosen
}

/** Moves the clock of an engine, and gives one that is elsewhere the time to follow. */
export async function pass(engine: LockEngine, clock: VirtualClock, ms: number): Promise<void> {
  if (!engine.capabilities.shared) return clock.advance(ms)
  for (let leftMs = ms; leftMs > 0; leftMs -= LEAP_MS) {
    await clock.advance(Math.min(LEAP_MS, leftMs))
    await engine.read({ kind: 'stats' })
    // A watch begins when those that are there have been told everything.
    if (leftMs % TOLD_EVERY_MS <= LEAP_MS) await (await engine.watch({}, () => {})).close()
  }
}

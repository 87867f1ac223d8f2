import type { LockEngine } from '../../src/engine/engine.ts'
import {
  type EmbeddedOptions,
  openMemoryEngine,
} from '../../src/engines/embedded/embedded-engine.ts'

type TestEngineOptions = Pick<EmbeddedOptions, 'settings' | 'clock' | 'history'>

export type OpenTestEngine = (options: TestEngineOptions) => Promise<LockEngine>

let open: OpenTestEngine = async (options) => openMemoryEngine(options)

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

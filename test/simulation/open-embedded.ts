import { openStoredEngine } from '../../src/engines/embedded/embedded-engine.ts'
import { decide, type Law } from '../../src/law/decide.ts'
import type {
  OpenSimulatedEngine,
  SimulatedEngineOptions,
} from '../../src/testing/simulator/open-simulated-engine.ts'

/** The embedded engine, its journal on the simulated disk. */
export const openEmbedded: OpenSimulatedEngine = openWithLaw(decide)

/** The same with a history beside the journal, which shares its troubles with the disk. */
export const openWithHistory: OpenSimulatedEngine = openWithLaw(decide, (options) => options, true)

/** The same with another law, or with something else changed before it is opened. */
export function openWithLaw(
  law: Law,
  change: (options: SimulatedEngineOptions) => SimulatedEngineOptions = (options) => options,
  history = false,
): OpenSimulatedEngine {
  return (given) => {
    const options = change(given)
    const { disk, clock, settings, observe } = options
    const { compactMinBytes, preallocateBytes, defer, createSalt } = options
    const journal = { compactMinBytes, preallocateBytes, defer, createSalt }
    return openStoredEngine(disk, { clock, settings, law: observe(law), journal, history })
  }
}

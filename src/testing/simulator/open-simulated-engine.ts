import type { LockEngine } from '../../engine/engine.ts'
import type { Law } from '../../law/decide.ts'
import type { LawSettings } from '../../law/model/settings.ts'
import type { Clock } from '../../time/clock.ts'
import type { SimulatedDisk } from '../simulated-disk.ts'

/** All that an engine gets from the world when it is opened. */
export interface SimulatedEngineOptions {
  /** The disk as this life of the engine has it; nothing is answered after its end. */
  readonly disk: ReturnType<SimulatedDisk['mount']>
  readonly clock: Clock
  readonly settings: Partial<LawSettings>
  readonly compactMinBytes: number
  readonly preallocateBytes: number
  /** Runs a function when the current turn of the event loop is over. */
  readonly defer: (run: () => void) => void
  readonly createSalt: () => number
  /** The law as the engine is to call it: the same, but every decision is seen. */
  readonly observe: (law: Law) => Law
}

/**
 * Opens the engine under test on what its disk has. Which engine that is, and with which law, is the
 * caller's choice: the simulator brings everything else.
 */
export type OpenSimulatedEngine = (options: SimulatedEngineOptions) => Promise<LockEngine>

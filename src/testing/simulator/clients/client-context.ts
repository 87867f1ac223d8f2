import type { LockEngine } from '../../../engine/engine.ts'
import type { Clock } from '../../../time/clock.ts'
import type { Random } from '../../random.ts'
import type { BeliefBoard } from '../oracle/belief-board.ts'
import type { FencedRegister } from '../oracle/fenced-register.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { Workload } from '../simulation-plan.ts'
import type { WatchBoard } from '../oracle/watch-board.ts'

/** What one life of a client has to work with. */
export interface ClientContext {
  /** The same in every life: the node's name. */
  readonly name: string
  /** Another in every life. */
  readonly id: string
  readonly engine: LockEngine
  readonly clock: Clock
  readonly random: Random
  readonly process: SimulatedProcess
  readonly workload: Workload
  readonly register: FencedRegister
  readonly beliefs: BeliefBoard
  readonly watches: WatchBoard
  /** Whether the faults are over: finish what is under way, show that everything works, and leave. */
  isHealed(): boolean
}

/** A client: it runs until it is healed and has left nothing behind. */
export type Client = (context: ClientContext) => Promise<void>

export function sleep({ clock }: ClientContext, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(delayMs, resolve)
  })
}

import type { LockEngine } from '../../engine/engine.ts'
import type { Begin } from '../../law/model/commands.ts'
import { ownerOf } from '../../law/operations.ts'
import type { Clock, Timer } from '../../time/clock.ts'

export interface PlaceKeeperOptions {
  /** What the node asked for, in any version; it must not wait. */
  readonly begin: Begin
  /** How long the node keeps its place without a sign. */
  readonly patienceMs: number
  readonly clock: Clock
}

/** Signs within one patience, so that a slow engine may miss one. */
const SIGNS = 3

/**
 * Keeps the place of a node in the queue of an operation while its stream is open. It asks only for a node
 * that waits: asking for one that was just granted would claim the grant without the node knowing of it.
 */
export class PlaceKeeper {
  readonly #engine: LockEngine
  readonly #options: PlaceKeeperOptions
  #timer: Timer | undefined

  constructor(engine: LockEngine, options: PlaceKeeperOptions) {
    this.#engine = engine
    this.#options = options
    if (Number.isFinite(options.patienceMs)) this.#arm()
  }

  close(): void {
    this.#timer?.cancel()
  }

  #arm(): void {
    const { clock, patienceMs } = this.#options
    this.#timer = clock.setTimer(patienceMs / SIGNS, () => {
      this.#arm()
      void this.#sign()
    })
  }

  async #sign(): Promise<void> {
    const { begin } = this.#options
    try {
      const { waiting } = await this.#engine.read({
        kind: 'standing',
        namespace: 'operation',
        key: begin.resource,
        owner: ownerOf(begin),
      })
      const [waiter] = waiting
      // The listener names no version: the node keeps the place that it has.
      if (waiter !== undefined) await this.#engine.apply({ ...begin, version: waiter.version })
    } catch {
      // The engine does not answer at the moment; the next sign is in time.
    }
  }
}

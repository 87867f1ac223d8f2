import type { LockEngine } from '../../src/engine/engine.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import type { Clock } from '../../src/time/clock.ts'

/** Engines that follow one another on one store. Each life counts its time anew, as processes do. */
export class EngineLives {
  readonly #open: (clock: Clock) => Promise<LockEngine>
  #clock = new VirtualClock()
  #earlierMs = 0
  #engine: LockEngine | undefined

  constructor(open: (clock: Clock) => Promise<LockEngine>) {
    this.#open = open
  }

  /** The time of all lives together. */
  readonly clock = { nowMs: (): number => this.#earlierMs + this.#clock.nowMs() }

  get engine(): LockEngine {
    if (this.#engine === undefined) throw new Error('the engine could not be opened')
    return this.#engine
  }

  advance(ms: number): Promise<void> {
    return this.#clock.advance(ms)
  }

  /** A new engine takes the place of the one before, whatever became of that. */
  async begin(): Promise<LockEngine> {
    this.#earlierMs += this.#clock.nowMs()
    this.#clock = new VirtualClock({ nowMs: 1_000 })
    this.#engine = undefined
    this.#engine = await this.#open(this.#clock)
    return this.#engine
  }

  async restart(): Promise<LockEngine> {
    await this.engine.close()
    return this.begin()
  }

  async close(): Promise<void> {
    await this.#engine?.close()
  }
}

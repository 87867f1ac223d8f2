import type { Clock, Timer } from '../../time/clock.ts'
import type { VirtualClock } from '../virtual-clock.ts'
import type { SimulatedProcess } from './simulated-process.ts'

/** A timer that was rounded to fire a little too early waits for this much longer. */
const ROUNDING_MS = 1e-6

export interface ProcessClockOptions {
  /** What it shows at first: every process counts from a moment of its own. */
  readonly nowMs: number
  /** How many of its milliseconds pass in one of the world's. */
  readonly rate: number
}

/** The clock as one process sees it. Its timers are held back while the process is paused. */
export class ProcessClock implements Clock {
  readonly #world: VirtualClock
  readonly #process: SimulatedProcess
  readonly #options: ProcessClockOptions
  readonly #startedAtMs: number
  readonly #timers = new Set<Timer>()

  constructor(world: VirtualClock, process: SimulatedProcess, options: ProcessClockOptions) {
    this.#world = world
    this.#process = process
    this.#options = options
    // A whole number, because differences of whole numbers are not rounded.
    this.#startedAtMs = Math.floor(world.nowMs())
    process.onDeath(() => {
      for (const timer of this.#timers) timer.cancel()
    })
  }

  nowMs(): number {
    const { nowMs, rate } = this.#options
    return nowMs + (this.#world.nowMs() - this.#startedAtMs) * rate
  }

  wallMs(): number {
    return this.#world.wallMs()
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    if (this.#process.isDead) return DEAD_TIMER
    const dueAtMs = this.nowMs() + delayMs
    let inner: Timer
    let isCancelled = false
    const arm = (worldMs: number): void => {
      inner = this.#world.setTimer(worldMs, () => {
        this.#timers.delete(inner)
        if (this.nowMs() < dueAtMs) arm(ROUNDING_MS)
        else this.#process.run(() => void (isCancelled || callback()))
      })
      this.#timers.add(inner)
    }
    arm(delayMs / this.#options.rate)
    const cancel = (): void => {
      isCancelled = true
      inner.cancel()
      this.#timers.delete(inner)
    }
    return { cancel, ref: () => {}, unref: () => {} }
  }
}

const DEAD_TIMER: Timer = Object.freeze({ cancel: () => {}, ref: () => {}, unref: () => {} })

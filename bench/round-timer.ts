import type { Sample } from './scenario.ts'

/** The clock is read once in so many ticks: reading it costs a tenth of an uncontended cycle. */
const TICKS_PER_LOOK = 16

/**
 * The time of one round. It ends by itself when its time is over and somebody ticks; what is done
 * afterwards, to leave nothing behind, is not counted.
 */
export class RoundTimer {
  readonly #durationMs: number
  #startedAtMs = performance.now()
  #startedCpu = process.cpuUsage()
  #ticks = 0
  #sample: Sample | undefined
  isOver = false
  operations = 0

  constructor(durationMs: number) {
    this.#durationMs = durationMs
  }

  /** Begin now and not when it was made. */
  restart(): void {
    this.#startedAtMs = performance.now()
    this.#startedCpu = process.cpuUsage()
  }

  tick(): void {
    this.#ticks += 1
    if (this.#ticks % TICKS_PER_LOOK === 0) this.look()
  }

  /** For steps that are long enough to look at the clock after each. */
  look(): void {
    if (performance.now() - this.#startedAtMs >= this.#durationMs) this.stop()
  }

  stop(): Sample {
    if (this.#sample !== undefined) return this.#sample
    this.isOver = true
    const wallMs = performance.now() - this.#startedAtMs
    const { user, system } = process.cpuUsage(this.#startedCpu)
    const { operations } = this
    this.#sample = { operations, wallMs, cpuMs: (user + system) / 1000, counts: {} }
    return this.#sample
  }
}

import type { Clock, Timer } from './clock.ts'
import { parseTimerDelay } from './timer-delay.ts'

/** Node fires a longer delay at once instead of late, so longer ones are made of several. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1

/** The real clock of this process. `nowMs()` counts from the start of the process. */
export class SystemClock implements Clock {
  nowMs(): number {
    return performance.now()
  }

  wallMs(): number {
    return Date.now()
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    return new SystemTimer(performance.now() + parseTimerDelay(delayMs), callback)
  }
}

class SystemTimer implements Timer {
  readonly #dueAtMs: number
  readonly #callback: () => void
  #timeout: NodeJS.Timeout | null
  #keepsAlive = false

  constructor(dueAtMs: number, callback: () => void) {
    this.#dueAtMs = dueAtMs
    this.#callback = callback
    this.#timeout = this.#arm()
  }

  cancel(): void {
    if (this.#timeout !== null) clearTimeout(this.#timeout)
    this.#timeout = null
  }

  ref(): void {
    this.#keepsAlive = true
    this.#timeout?.ref()
  }

  unref(): void {
    this.#keepsAlive = false
    this.#timeout?.unref()
  }

  #arm(): NodeJS.Timeout {
    const remainingMs = Math.ceil(this.#dueAtMs - performance.now())
    const timeout = setTimeout(() => this.#wake(), Math.min(remainingMs, TIMEOUT_MS_MAX))
    return this.#keepsAlive ? timeout : timeout.unref()
  }

  // Waking early is ordinary: after one link of a long chain, and because Node counts timeouts in
  // whole milliseconds of the event loop's own time.
  #wake(): void {
    if (performance.now() < this.#dueAtMs) {
      this.#timeout = this.#arm()
      return
    }
    this.#timeout = null
    this.#callback()
  }
}

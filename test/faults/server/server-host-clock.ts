import type { Clock, Timer } from '../../../src/time/clock.ts'
import { SystemClock } from '../../../src/time/system-clock.ts'

/** The monotonic clock that all processes of a machine share: their instants can be compared. */
export class HostClock implements Clock {
  readonly #system = new SystemClock()

  nowMs(): number {
    return Number(process.hrtime.bigint()) / 1e6
  }

  wallMs(): number {
    return this.#system.wallMs()
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    return this.#system.setTimer(delayMs, callback)
  }
}

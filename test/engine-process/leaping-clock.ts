import { setImmediate } from 'node:timers/promises'
import type { Clock, Timer } from '../../src/time/clock.ts'

interface SetTimer {
  readonly dueAtMs: number
  readonly callback: () => void
}

/**
 * A virtual clock that does not stop on its way: timers that fell due fire once it has arrived, late, as
 * they do in a process that was busy. What is to be done every second is then not done for every second.
 */
export class LeapingClock implements Clock {
  readonly #timers = new Set<SetTimer>()
  #nowMs: number

  constructor(nowMs: number) {
    this.#nowMs = nowMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  wallMs(): number {
    return this.#nowMs
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer = { dueAtMs: this.#nowMs + Math.max(0, delayMs), callback }
    this.#timers.add(timer)
    return { cancel: () => this.#timers.delete(timer), ref: () => {}, unref: () => {} }
  }

  async advance(ms: number): Promise<void> {
    this.#nowMs += ms
    const due = [...this.#timers].filter(({ dueAtMs }) => dueAtMs <= this.#nowMs)
    for (const timer of due.sort((one, other) => one.dueAtMs - other.dueAtMs)) {
      if (this.#timers.delete(timer)) timer.callback()
    }
    await setImmediate()
  }
}

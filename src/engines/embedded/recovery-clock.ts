import type { Clock, Timer } from '../../time/clock.ts'

/**
 * A clock that stands still while a journal is read, and while it cannot be written. Every lease that comes back starts anew when it is
 * read, and reading a long journal from a slow disk may take longer than a lease: what was read first must
 * not be over before anyone can be answered.
 */
export class RecoveryClock implements Clock {
  readonly #clock: Clock
  #standsAtMs: number | undefined
  #behindMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#standsAtMs = Math.floor(clock.nowMs())
  }

  /**
   * Everything is read: from here on it runs, later by as long as it stood still. That is whole
   * milliseconds, so that no rounding can make a timer fire a little too early.
   */
  start(): void {
    this.#behindMs = Math.floor(this.#clock.nowMs()) - this.nowMs()
    this.#standsAtMs = undefined
  }

  /** It stands still again, until `start`. */
  stop(): void {
    this.#standsAtMs = Math.floor(this.nowMs())
  }

  nowMs(): number {
    return this.#standsAtMs ?? this.#clock.nowMs() - this.#behindMs
  }

  wallMs(): number {
    return this.#clock.wallMs()
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    return this.#clock.setTimer(delayMs, callback)
  }
}

/**
 * Time, as every engine and the SDK see it. Nothing below `cli/` reads a clock of its own: it is
 * handed a `Clock`, so that a test or the simulator can decide what time it is.
 */
export interface Clock {
  /**
   * Milliseconds on a monotonic clock, possibly fractional. The zero point is arbitrary but fixed
   * for the life of the clock; two clocks must not be compared with each other. It never goes back
   * and does not follow changes of the wall clock. Leases, deadlines and time-outs are counted on
   * this clock only.
   */
  nowMs(): number

  /**
   * Milliseconds since the Unix epoch, for showing instants to people. It may jump in either
   * direction at any time, so no decision may depend on it.
   */
  wallMs(): number

  /**
   * Calls `callback` once, when `nowMs()` has reached the present instant plus `delayMs`: later is
   * possible, earlier is not. It is never called before `setTimer` has returned, not even with a
   * delay of zero; a negative delay counts as zero. A delay has no upper limit except that it must
   * be finite: `NaN` and infinities throw a `RangeError`.
   *
   * The caller owns the timer and cancels it when it is no longer wanted. A timer does not keep the
   * process alive unless `ref()` is called.
   */
  setTimer(delayMs: number, callback: () => void): Timer
}

/** One pending call, as returned by `Clock.setTimer`. */
export interface Timer {
  /** The callback is not called after this returns. Harmless after it fired, and when repeated. */
  cancel(): void

  /** Lets the pending timer keep the process alive. */
  ref(): void

  /** Lets the process end although the timer is pending; this is how every timer starts. */
  unref(): void
}

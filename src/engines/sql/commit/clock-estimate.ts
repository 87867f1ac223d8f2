import type { Clock } from '../../../time/clock.ts'

/** A guess is of use only if it is sure to be behind the clock by no more than this. */
export const BEHIND_MS_MAX = 4

/** What was heard is forgotten after a few of these: no two clocks run at the same rate for long. */
const STRETCH_MS = 5_000

/** What has to be added to our clock: at least the one and less than the other. */
interface Bounds {
  readonly atLeast: number
  readonly below: number
}

const UNKNOWN: Bounds = { atLeast: -Infinity, below: Infinity }

/**
 * What a clock somewhere else shows, by our own and by what was heard of it: it showed a moment after it
 * was asked for and before that was heard. The guess is never ahead of it as long as nobody sets it; whoever
 * relies on that has it checked.
 */
export class ClockEstimate {
  readonly #clock: Clock
  #before = UNKNOWN
  #present = UNKNOWN
  #stretchEndsAtMs = -Infinity
  /** It does not go back, so what is guessed after this is no less. */
  #shownMs = -Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** It showed `shownMs`, cut to a whole number, after `askedAtMs` on our clock and before now. */
  note(shownMs: number, askedAtMs: number): void {
    const nowMs = this.#clock.nowMs()
    const heard = { atLeast: shownMs - nowMs, below: shownMs + 1 - askedAtMs }
    if (nowMs < this.#stretchEndsAtMs) this.#present = narrowed(this.#present, heard)
    else this.#begin(nowMs, heard)
    this.#shownMs = Math.max(this.#shownMs, shownMs)
    const { atLeast, below } = narrowed(this.#before, this.#present)
    if (atLeast < below) return
    // It was set.
    this.#before = UNKNOWN
    this.#present = heard
    this.#shownMs = shownMs
  }

  #begin(nowMs: number, heard: Bounds): void {
    const isLate = nowMs >= this.#stretchEndsAtMs + STRETCH_MS
    this.#before = isLate ? UNKNOWN : this.#present
    this.#present = heard
    this.#stretchEndsAtMs = nowMs + STRETCH_MS
    if (isLate) this.#shownMs = -Infinity
  }

  /** `undefined` if too little was heard of late. */
  guess(): number | undefined {
    const nowMs = this.#clock.nowMs()
    if (nowMs >= this.#stretchEndsAtMs + STRETCH_MS) return undefined
    const { atLeast, below } = narrowed(this.#before, this.#present)
    if (below - atLeast > BEHIND_MS_MAX) return undefined
    return Math.max(this.#shownMs, Math.floor(nowMs + atLeast))
  }
}

function narrowed(one: Bounds, other: Bounds): Bounds {
  return {
    atLeast: Math.max(one.atLeast, other.atLeast),
    below: Math.min(one.below, other.below),
  }
}

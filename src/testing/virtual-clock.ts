import { nextTick } from 'node:process'
import type { Clock, Timer } from '../time/clock.ts'
import { parseTimerDelay } from '../time/timer-delay.ts'

export interface VirtualClockOptions {
  /** Where the monotonic clock starts; 0 by default. */
  readonly nowMs?: number
  /** Where the wall clock starts; an arbitrary fixed instant by default. */
  readonly wallMs?: number
}

/** 2030-01-01T00:00:00Z, so that a wall time that leaks into a decision is easy to see. */
const DEFAULT_WALL_MS = 1_893_456_000_000

/** A loop of timers that re-arm themselves would otherwise never end. */
const IDLE_TIMERS_MAX = 100_000

/**
 * A clock that stands still until it is told to move. Timers fire in the order of their time, and
 * in the order of their creation where that is equal; between two of them every promise
 * continuation that can run does run. Nothing depends on the real clock, so the same program does
 * the same thing every time.
 *
 * Only one `advance`, `runNext` or `runUntilIdle` may be under way at a time; a second one throws.
 * An error thrown by a timer's callback rejects the call that fired it.
 */
export class VirtualClock implements Clock {
  #nowMs: number
  #wallOffsetMs: number
  #created = 0
  #moving = false
  // Sorted; the next timer to fire is the last element, where removal is cheap.
  readonly #timers: VirtualTimer[] = []

  constructor(options: VirtualClockOptions = {}) {
    this.#nowMs = options.nowMs ?? 0
    this.#wallOffsetMs = (options.wallMs ?? DEFAULT_WALL_MS) - this.#nowMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  wallMs(): number {
    return this.#nowMs + this.#wallOffsetMs
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer: VirtualTimer = {
      dueAtMs: this.#nowMs + parseTimerDelay(delayMs),
      order: this.#created++,
      callback,
      cancel: () => this.#remove(timer),
      ref: () => {},
      unref: () => {},
    }
    this.#timers.splice(this.#indexFor(timer), 0, timer)
    return timer
  }

  /** How many timers are set and have neither fired nor been cancelled. */
  get pendingTimers(): number {
    return this.#timers.length
  }

  /** When the next timer falls due, or `null` if none is set. */
  get nextTimerAtMs(): number | null {
    return this.#timers.at(-1)?.dueAtMs ?? null
  }

  /** Moves the wall clock alone, in either direction; no timer and no lease notices. */
  jumpWall(ms: number): void {
    this.#wallOffsetMs += ms
  }

  /** Moves time forward, firing on the way every timer that falls due, also newly set ones. */
  async advance(ms: number): Promise<void> {
    const target = this.#nowMs + parseTimerDelay(ms)
    await this.#move(async () => {
      while (this.#dueBy(target)) await this.#fireNext()
      this.#nowMs = target
      await this.settle()
    })
  }

  /** Moves to the next timer and fires it alone. Returns false if there is none. */
  async runNext(): Promise<boolean> {
    return this.#move(async () => {
      if (this.#timers.length === 0) return false
      await this.#fireNext()
      return true
    })
  }

  /**
   * Fires timers until none is left and returns how many fired. Throws after 100,000, because a
   * timer that always sets the next one never becomes idle: use `advance` there.
   */
  async runUntilIdle(): Promise<number> {
    return this.#move(async () => {
      let fired = 0
      for (; this.#timers.length > 0; fired++) {
        if (fired === IDLE_TIMERS_MAX) {
          throw new Error(`timers are still being set after ${IDLE_TIMERS_MAX} of them fired`)
        }
        await this.#fireNext()
      }
      return fired
    })
  }

  /**
   * Returns when every promise continuation that can run without time or I/O has run. A tick that
   * is queued from inside a promise continuation runs only when the whole microtask queue is
   * empty, which no number of awaited promises could tell us; hence the first await.
   */
  async settle(): Promise<void> {
    await Promise.resolve()
    await new Promise<void>((resolve) => {
      nextTick(resolve)
    })
  }

  async #move<Result>(run: () => Promise<Result>): Promise<Result> {
    if (this.#moving) throw new Error('the virtual clock is already moving; await the first call')
    this.#moving = true
    try {
      await this.settle()
      return await run()
    } finally {
      this.#moving = false
    }
  }

  #dueBy(targetMs: number): boolean {
    const next = this.nextTimerAtMs
    return next !== null && next <= targetMs
  }

  async #fireNext(): Promise<void> {
    const timer = this.#timers.pop()
    if (timer === undefined) return
    this.#nowMs = timer.dueAtMs
    timer.callback()
    await this.settle()
  }

  #remove(timer: VirtualTimer): void {
    const index = this.#indexFor(timer)
    if (this.#timers[index] === timer) this.#timers.splice(index, 1)
  }

  // The first index whose timer does not fire after the given one.
  #indexFor(timer: VirtualTimer): number {
    let low = 0
    let high = this.#timers.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#timers[middle]
      if (other !== undefined && firesAfter(other, timer)) low = middle + 1
      else high = middle
    }
    return low
  }
}

interface VirtualTimer extends Timer {
  readonly dueAtMs: number
  readonly order: number
  readonly callback: () => void
}

function firesAfter(one: VirtualTimer, other: VirtualTimer): boolean {
  return one.dueAtMs > other.dueAtMs || (one.dueAtMs === other.dueAtMs && one.order > other.order)
}

import type { Clock, Timer } from '../../time/clock.ts'
import type { Expiry } from './expiry.ts'

/**
 * The engine's one timer: it is set for whatever comes due first. It is moved only to an earlier moment;
 * when it fires and the first has left meanwhile, it is simply set again.
 */
export class Alarm {
  readonly #expiry: Expiry
  readonly #clock: Clock
  readonly #ring: () => void
  #timer: Timer | undefined
  #atMs = Number.POSITIVE_INFINITY
  #keepsAlive = false
  #isStopped = false

  constructor(expiry: Expiry, clock: Clock, ring: () => void) {
    this.#expiry = expiry
    this.#clock = clock
    this.#ring = ring
  }

  set(): void {
    const { dueAtMs } = this.#expiry
    if (dueAtMs >= this.#atMs || this.#isStopped) return
    this.#timer?.cancel()
    this.#atMs = dueAtMs
    const delayMs = Math.max(0, dueAtMs - this.#clock.nowMs())
    this.#timer = this.#clock.setTimer(delayMs, () => this.#fire())
    if (this.#keepsAlive) this.#timer.ref()
  }

  #fire(): void {
    this.#timer = undefined
    this.#atMs = Number.POSITIVE_INFINITY
    this.#ring()
    this.set()
  }

  /** Somebody awaits an answer that only this timer may bring, so the process must not end. */
  keepAlive(keepsAlive: boolean): void {
    if (keepsAlive === this.#keepsAlive) return
    this.#keepsAlive = keepsAlive
    if (keepsAlive) this.#timer?.ref()
    else this.#timer?.unref()
  }

  /** It runs again after a stop. */
  restart(): void {
    this.#isStopped = false
    this.#atMs = Number.POSITIVE_INFINITY
    this.set()
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
    this.#timer = undefined
  }
}

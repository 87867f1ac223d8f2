import type { Timer } from '../../time/clock.ts'
import type { VirtualClock } from '../virtual-clock.ts'

/**
 * One simulated process, as far as its scheduling goes. Whatever reaches it from outside, a timer, a
 * message, the completion of a disk operation, goes through `run`. While it is paused that is held back,
 * and none of its code runs, because its promises have nothing to continue from; once it is dead
 * nothing of it ever runs again.
 */
export class SimulatedProcess {
  readonly name: string
  readonly #clock: VirtualClock
  readonly #onDeath: (() => void)[] = []
  #held: (() => void)[] = []
  #draining: Timer | undefined
  #isPaused = false
  #isDead = false

  constructor(name: string, clock: VirtualClock) {
    this.name = name
    this.#clock = clock
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** Alive, not paused, and with nothing left of what was held back. */
  get isUpToDate(): boolean {
    return !this.#isDead && !this.#isPaused && this.#held.length === 0
  }

  /** At once, after what is held back, or never. */
  run(callback: () => void): void {
    if (this.#isDead) return
    if (this.isUpToDate) callback()
    else this.#held.push(callback)
  }

  /** Called once, when it is killed; at once if it is dead. */
  onDeath(callback: () => void): void {
    if (this.#isDead) callback()
    else this.#onDeath.push(callback)
  }

  pause(): void {
    this.#isPaused = true
    this.#draining?.cancel()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#drainNext()
  }

  kill(): void {
    if (this.#isDead) return
    this.#isDead = true
    this.#held = []
    this.#draining?.cancel()
    for (const callback of this.#onDeath) callback()
  }

  /** One at a time, so that what each of them leads to comes before the next. */
  #drainNext(): void {
    if (this.#held.length === 0) return
    this.#draining = this.#clock.setTimer(0, () => {
      const next = this.#held.shift()
      next?.()
      this.#drainNext()
    })
  }
}

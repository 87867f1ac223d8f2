import type { LockHandle } from '../../locks/lease/lock-handle.ts'
import { monotonicMs } from './supervisor-messages.ts'

export interface LockKeeperOptions {
  readonly lock: LockHandle
  readonly graceMs: number
  /** The lock is sure until then. */
  readonly onDeadline: (atMs: number) => void
  /** The lock is lost, or its lease is about to end: be gone by then. Called once. */
  readonly onLoss: (killAtMs: number) => void
}

/**
 * How much earlier than the lock becomes unsure everything has to be dead. The handle's own deadline
 * has a margin for clocks; this one is for timers that are late on a busy machine.
 */
const KILL_MARGIN_MS_MAX = 50
const KILL_MARGIN_RATIO = 0.1
/** What the grace may take of the lease: an outage of the server that is shorter than the rest costs nothing. */
const GRACE_RATIO_MAX = 1 / 10
const LOOKS_PER_LEASE = 40
const LOOK_MS_MIN = 5
const LOOK_MS_MAX = 250

/**
 * Watches over the time for which a held lock is sure. If no heartbeat or renewal is confirmed for so long that
 * only the grace is left of the lease, the command is told to stop, and by when.
 */
export class LockKeeper {
  readonly #options: LockKeeperOptions
  readonly #marginMs: number
  readonly #graceMs: number
  readonly #timer: NodeJS.Timeout
  readonly #onAbort = (): void => this.#lose(monotonicMs())
  #deadlineAtMs = 0
  #isLost = false

  constructor(options: LockKeeperOptions) {
    const { lock, graceMs } = options
    const { remainingMs } = lock
    this.#options = options
    this.#marginMs = Math.min(KILL_MARGIN_MS_MAX, remainingMs * KILL_MARGIN_RATIO)
    this.#graceMs = Math.min(graceMs, remainingMs * GRACE_RATIO_MAX)
    const lookMs = Math.min(LOOK_MS_MAX, Math.max(LOOK_MS_MIN, remainingMs / LOOKS_PER_LEASE))
    this.#timer = setInterval(() => this.#look(), lookMs)
    lock.signal.addEventListener('abort', this.#onAbort, { once: true })
    if (lock.signal.aborted) this.#onAbort()
  }

  /** Everything has to be dead by then, as far as is known now. */
  get deadlineAtMs(): number {
    return monotonicMs() + this.#options.lock.remainingMs - this.#marginMs
  }

  close(): void {
    clearInterval(this.#timer)
    this.#options.lock.signal.removeEventListener('abort', this.#onAbort)
  }

  #look(): void {
    const { lock, onDeadline } = this.#options
    const nowMs = monotonicMs()
    const deadlineAtMs = nowMs + lock.remainingMs - this.#marginMs
    // A deadline that did not move comes out a little differently each time.
    if (deadlineAtMs > this.#deadlineAtMs + 1) {
      this.#deadlineAtMs = deadlineAtMs
      onDeadline(deadlineAtMs)
    }
    if (deadlineAtMs - nowMs <= this.#graceMs) this.#lose(deadlineAtMs)
  }

  #lose(killAtMs: number): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#options.onLoss(killAtMs)
  }
}

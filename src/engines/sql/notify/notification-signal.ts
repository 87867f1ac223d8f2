import type { Clock, Timer } from '../../../time/clock.ts'
import { SystemClock } from '../../../time/system-clock.ts'

/** Behind every push stands a look of our own, this often. */
const LOOK_MS = 2_000

export interface NotificationSignalOptions {
  /** How often to look where nobody rings; 0 where somebody does. */
  readonly pollMs: number
  /** Look what there is. What it throws is forgotten: there is a next time. */
  readonly look: () => Promise<void>
}

/**
 * When to look for notifications and events: when it rings, and now and then all the same. Only while there is
 * somebody here who waits for one.
 */
export class NotificationSignal {
  readonly #options: NotificationSignalOptions
  readonly #clock: Clock
  #timer: Timer | undefined
  #looking: Promise<void> | undefined
  #isRung = false
  #isWanted = false
  #isKeepingAlive = false

  constructor(options: NotificationSignalOptions, clock: Clock = new SystemClock()) {
    this.#options = options
    this.#clock = clock
  }

  /** Whether anybody waits, and whether the process has to stay for them. */
  want(isWanted: boolean, keepsAlive: boolean): void {
    this.#isWanted = isWanted
    this.#isKeepingAlive = keepsAlive
    if (isWanted) this.#schedule()
    else this.#cancel()
    if (keepsAlive) this.#timer?.ref()
    else this.#timer?.unref()
  }

  /** Somebody rang, or may have. */
  ring(): void {
    if (this.#isWanted) void this.lookNow()
  }

  #schedule(): void {
    if (this.#timer !== undefined || !this.#isWanted) return
    const delayMs = this.#options.pollMs === 0 ? LOOK_MS : this.#options.pollMs
    this.#timer = this.#clock.setTimer(delayMs, () => {
      this.#timer = undefined
      void this.lookNow()
    })
    if (this.#isKeepingAlive) this.#timer.ref()
  }

  /** Resolves when somebody has looked who began after this call, or the database is away. */
  lookNow(): Promise<void> {
    this.#isRung = true
    this.#looking ??= this.#lookUntilQuiet().finally(() => {
      this.#looking = undefined
      this.#schedule()
    })
    return this.#looking
  }

  async #lookUntilQuiet(): Promise<void> {
    while (this.#isRung && this.#isWanted) {
      this.#isRung = false
      try {
        await this.#options.look()
      } catch {
        // The database is away; whoever waits is not told anything that is not so.
        return
      }
    }
  }

  #cancel(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  async close(): Promise<void> {
    this.#isWanted = false
    this.#cancel()
    await this.#looking
  }
}

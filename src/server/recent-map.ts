import type { Clock } from '../time/clock.ts'

export interface RecentMapOptions {
  readonly clock: Clock
  readonly keptMs: number
  /** When there are more, the oldest go first. */
  readonly keptMax: number
}

/** What was set lately: for a while, and not more than a given number. */
export class RecentMap<Value> {
  readonly #options: RecentMapOptions
  /** Oldest first. */
  readonly #entries = new Map<string, { readonly value: Value; readonly atMs: number }>()

  constructor(options: RecentMapOptions) {
    this.#options = options
  }

  get(key: string): Value | undefined {
    this.#forget()
    return this.#entries.get(key)?.value
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, { value, atMs: this.#options.clock.nowMs() })
    this.#forget()
  }

  /** Only if it is this one. */
  delete(key: string, value: Value): void {
    if (this.#entries.get(key)?.value === value) this.#entries.delete(key)
  }

  #forget(): void {
    const { clock, keptMs, keptMax } = this.#options
    const oldestMs = clock.nowMs() - keptMs
    for (const [key, { atMs }] of this.#entries) {
      if (atMs > oldestMs && this.#entries.size <= keptMax) return
      this.#entries.delete(key)
    }
  }
}

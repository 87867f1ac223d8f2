import type { Clock } from '../time/clock.ts'

export interface RecentMapOptions {
  readonly clock: Clock
  readonly keptMs: number
  /** Of all principals together. When there are more, the one that has the most loses its oldest. */
  readonly keptMax: number
}

interface Entry<Value> {
  readonly value: Value
  readonly atMs: number
}

/** What was set lately, by principal: for a while, and not more than a given number, shared fairly. */
export class RecentMap<Value> {
  readonly #options: RecentMapOptions
  /** By principal; of each the oldest first. */
  readonly #entries = new Map<string, Map<string, Entry<Value>>>()
  #size = 0

  constructor(options: RecentMapOptions) {
    this.#options = options
  }

  get(principal: string | undefined, key: string): Value | undefined {
    const known = this.#entries.get(principal ?? '')?.get(key)
    return known === undefined || this.#isOld(known) ? undefined : known.value
  }

  set(principal: string | undefined, key: string, value: Value): void {
    const name = principal ?? ''
    this.#drop(name, key)
    const own = this.#entries.get(name) ?? new Map<string, Entry<Value>>()
    own.set(key, { value, atMs: this.#options.clock.nowMs() })
    this.#entries.set(name, own)
    this.#size += 1
    this.#dropOld(name, own)
    if (this.#size > this.#options.keptMax) this.#dropOfLargest()
  }

  /** Only if it is this one. */
  delete(principal: string | undefined, key: string, value: Value): void {
    const name = principal ?? ''
    if (this.#entries.get(name)?.get(key)?.value === value) this.#drop(name, key)
  }

  #isOld({ atMs }: Entry<Value>): boolean {
    return atMs <= this.#options.clock.nowMs() - this.#options.keptMs
  }

  #dropOld(name: string, own: Map<string, Entry<Value>>): void {
    for (const [key, entry] of own) {
      if (!this.#isOld(entry)) return
      this.#drop(name, key)
    }
  }

  #dropOfLargest(): void {
    const [name, own] = [...this.#entries].reduce((most, one) =>
      one[1].size > most[1].size ? one : most,
    )
    for (const key of own.keys()) return this.#drop(name, key)
  }

  #drop(name: string, key: string): void {
    const own = this.#entries.get(name)
    if (own?.delete(key) !== true) return
    this.#size -= 1
    if (own.size === 0) this.#entries.delete(name)
  }
}

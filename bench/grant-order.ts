/** Who asked when, and whether grants follow that order. */
export class GrantOrder {
  readonly #grants: number[]
  /** Granted before somebody who had asked earlier. */
  readonly #early = new Set<number>()
  #asks = 0
  #oldest = 1
  #asksBeforeRelease = Infinity
  /** Grants while somebody waited who had asked earlier. */
  overtakes = 0

  constructor(workers: number) {
    this.#grants = Array.from({ length: workers }, () => 0)
  }

  /** Workers that were never granted anything. */
  get starved(): number {
    return this.#grants.filter((count) => count === 0).length
  }

  /** The share of all grants that went to the worker with the most of them. */
  get busiestPercent(): number {
    const total = this.#grants.reduce((sum, count) => sum + count, 0)
    return total === 0 ? 0 : (100 * Math.max(...this.#grants)) / total
  }

  /** Somebody asks; returns the number of that ask. */
  asked(): number {
    this.#asks += 1
    return this.#asks
  }

  /** The holder is about to give the key back. */
  releasing(): void {
    this.#asksBeforeRelease = this.#asks
  }

  /**
   * An ask was granted. Returns whether it was handed off: given to somebody who waited already when the
   * last holder gave it back, and not to somebody who came later and was lucky.
   */
  granted(ask: number, worker: number): boolean {
    this.#grants[worker] = (this.#grants[worker] ?? 0) + 1
    if (ask === this.#oldest) {
      this.#oldest += 1
      while (this.#early.size > 0 && this.#early.delete(this.#oldest)) this.#oldest += 1
    } else {
      this.overtakes += 1
      this.#early.add(ask)
    }
    return ask <= this.#asksBeforeRelease
  }
}

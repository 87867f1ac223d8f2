/** Who asked when, and whether grants follow that order. */
export class GrantOrder {
  readonly #grants: number[]
  /** Granted before somebody who had asked earlier. */
  readonly #early = new Set<number>()
  #asks = 0
  #oldest = 1
  #lastWorker = -1
  /** Grants while somebody waited who had asked earlier. */
  overtakes = 0

  constructor(workers: number) {
    this.#grants = Array.from({ length: workers }, () => 0)
  }

  /** Workers that were never granted anything. */
  get starved(): number {
    return this.#grants.filter((count) => count === 0).length
  }

  /** Somebody asks; returns the number of that ask. */
  asked(): number {
    this.#asks += 1
    return this.#asks
  }

  /** An ask was granted. Returns whether the key changed hands. */
  granted(ask: number, worker: number): boolean {
    const isHandOff = worker !== this.#lastWorker
    this.#lastWorker = worker
    this.#grants[worker] = (this.#grants[worker] ?? 0) + 1
    if (ask === this.#oldest) {
      this.#oldest += 1
      while (this.#early.size > 0 && this.#early.delete(this.#oldest)) this.#oldest += 1
    } else {
      this.overtakes += 1
      this.#early.add(ask)
    }
    return isHandOff
  }
}

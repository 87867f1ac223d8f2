/**
 * A map whose keys are small whole numbers that are used again and again. An ordinary one is rebuilt after so
 * many removals, and each table that it outgrows keeps what it last held alive for the garbage collector.
 */
export class RequestSlots<Value> {
  readonly #values: (Value | undefined)[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: number): Value | undefined {
    return this.#values[key]
  }

  set(key: number, value: Value): void {
    if (this.#values[key] === undefined) this.#size += 1
    this.#values[key] = value
  }

  delete(key: number): boolean {
    if (this.#values[key] === undefined) return false
    this.#values[key] = undefined
    this.#size -= 1
    return true
  }

  values(): Iterable<Value> {
    return this.#values.filter((value) => value !== undefined)
  }

  clear(): void {
    this.#values.length = 0
    this.#size = 0
  }
}

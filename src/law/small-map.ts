/**
 * A map that mostly has one entry, which then stands in two fields. A decision that hands over a key
 * would otherwise make several real maps, each to put one thing into it.
 */
export class SmallMap<Key extends string | number | object, Value> {
  #key: Key | undefined = undefined
  #value: Value | undefined = undefined
  #others: Map<Key, Value> | undefined = undefined

  has(key: Key): boolean {
    return this.#key === key || this.#others?.has(key) === true
  }

  get(key: Key): Value | undefined {
    return this.#key === key ? this.#value : this.#others?.get(key)
  }

  set(key: Key, value: Value): void {
    this.#key ??= key
    if (this.#key === key) {
      this.#value = value
      return
    }
    this.#others ??= new Map()
    this.#others.set(key, value)
  }

  /** In the order in which the keys came. */
  *entries(): Iterable<[Key, Value]> {
    if (this.#key === undefined) return
    yield [this.#key, this.#value as Value]
    if (this.#others !== undefined) yield* this.#others
  }
}

/**
 * Values by a key that several may share, in the order in which they came. Nearly every key has one value,
 * which then stands without a set around it.
 */
export class Groups<Key, Value extends object> {
  readonly #groups = new Map<Key, Value | Set<Value>>()

  get isEmpty(): boolean {
    return this.#groups.size === 0
  }

  has(key: Key): boolean {
    return this.#groups.has(key)
  }

  /** How many values a key has. */
  sizeOf(key: Key): number {
    const group = this.#groups.get(key)
    if (group === undefined) return 0
    return group instanceof Set ? group.size : 1
  }

  of(key: Key): readonly Value[] {
    const group = this.#groups.get(key)
    if (group === undefined) return []
    return group instanceof Set ? [...group] : [group]
  }

  /** Harmless for a value that is there already. */
  add(key: Key, value: Value): void {
    const group = this.#groups.get(key)
    if (group === undefined) this.#groups.set(key, value)
    else if (group instanceof Set) group.add(value)
    else if (group !== value) this.#groups.set(key, new Set([group, value]))
  }

  /** Harmless for a value that is not there. */
  delete(key: Key, value: Value): void {
    const group = this.#groups.get(key)
    if (group instanceof Set) {
      group.delete(value)
      if (group.size === 0) this.#groups.delete(key)
    } else if (group === value) {
      this.#groups.delete(key)
    }
  }
}

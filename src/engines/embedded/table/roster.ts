/** Who can be on a roster, on one at a time: it knows its own place there, which the roster sets. */
export interface Listed {
  rosterIndex: number
}

/**
 * Who is there at present, in no order. Entering and leaving are a few writes and leave nothing behind;
 * a `Set` of those who come and go by the thousand keeps them alive long after they have left, because
 * each of its tables, once old, holds on to the next.
 */
export class Roster<Item extends Listed> {
  readonly #items: Item[] = []

  get size(): number {
    return this.#items.length
  }

  add(item: Item): void {
    item.rosterIndex = this.#items.length
    this.#items.push(item)
  }

  /** Harmless for who is not on it. */
  delete(item: Item): void {
    const { rosterIndex } = item
    if (this.#items[rosterIndex] !== item) return
    const last = this.#items.pop() as Item
    if (last !== item) {
      this.#items[rosterIndex] = last
      last.rosterIndex = rosterIndex
    }
    item.rosterIndex = -1
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.#items[Symbol.iterator]()
  }
}

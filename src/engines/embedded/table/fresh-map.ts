/** With fewer entries than this, copying them would happen too often. */
const LEFT_MIN = 8

/**
 * A map of those who come and go all the time.
 *
 * A `Map` that lives long outgrows one table after the other, and each of them, once old, keeps the next
 * alive with everyone in it until the whole heap is gone through. So the map is replaced by a copy before
 * that happens, and everything that the garbage collector sees of it is young.
 */
export class FreshMap<Value extends object> {
  #map = new Map<string, Value>()
  /** How many have left this map. */
  #left = 0

  get(name: string): Value | undefined {
    return this.#map.get(name)
  }

  has(name: string): boolean {
    return this.#map.has(name)
  }

  set(name: string, value: Value): void {
    this.#map.set(name, value)
  }

  delete(name: string): void {
    if (!this.#map.delete(name)) return
    this.#left += 1
    if (this.#left <= LEFT_MIN + this.#map.size / 2) return
    this.#map = new Map(this.#map)
    this.#left = 0
  }
}

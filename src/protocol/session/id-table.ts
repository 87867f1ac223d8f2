/** What can be kept: something with a number of its own that does not change. */
export interface Numbered {
  readonly id: number
}

const SLOTS_FIRST = 64
/** Two to the 32nd, divided by the golden ratio: numbers that follow each other end up far apart. */
const SPREAD = 0x9e3779b1

/**
 * What is open at present, by its number: thousands enter and leave in a second, and few are in it at
 * any time. A `Map` in its place keeps what has left alive, because each of its tables, once old, holds
 * on to the next; the collector then copies everything that ever went through it.
 */
export class IdTable<Value extends Numbered> {
  #slots: (Value | undefined)[] = emptySlots(SLOTS_FIRST)
  /** How far a spread number is shifted to become the index of a slot. */
  #shift = 32 - Math.log2(SLOTS_FIRST)
  #size = 0

  get size(): number {
    return this.#size
  }

  get(id: number): Value | undefined {
    return this.#slots[this.#find(id)]
  }

  has(id: number): boolean {
    return this.get(id) !== undefined
  }

  /** Its number must not be in it yet. */
  add(value: Value): void {
    if (this.#size * 2 >= this.#slots.length) this.#grow()
    this.#slots[this.#find(value.id)] = value
    this.#size += 1
  }

  /** Returns what had this number, if anything had. */
  take(id: number): Value | undefined {
    const index = this.#find(id)
    const value = this.#slots[index]
    if (value === undefined) return undefined
    this.#size -= 1
    this.#empty(index)
    return value
  }

  clear(): void {
    this.#slots.fill(undefined)
    this.#size = 0
  }

  /** All of them, in the order of their numbers, whatever becomes of them meanwhile. */
  sorted(): Value[] {
    const values = this.#slots.filter((value) => value !== undefined)
    return values.sort((a, b) => a.id - b.id)
  }

  /** The slot that has this number, or the one that it would get. */
  #find(id: number): number {
    const slots = this.#slots
    const last = slots.length - 1
    let index = this.#home(id)
    for (let value = slots[index]; value !== undefined && value.id !== id; value = slots[index]) {
      index = (index + 1) & last
    }
    return index
  }

  /** Whoever stands behind an empty slot, away from home, moves up: there must be no gap on its way. */
  #empty(index: number): void {
    const slots = this.#slots
    const last = slots.length - 1
    let gap = index
    let at = (gap + 1) & last
    for (let value = slots[at]; value !== undefined; value = slots[at]) {
      const fromHome = (at - this.#home(value.id)) & last
      if (fromHome >= ((at - gap) & last)) {
        slots[gap] = value
        gap = at
      }
      at = (at + 1) & last
    }
    slots[gap] = undefined
  }

  #home(id: number): number {
    return Math.imul(id, SPREAD) >>> this.#shift
  }

  #grow(): void {
    const values = this.#slots
    this.#slots = emptySlots(values.length * 2)
    this.#shift -= 1
    for (const value of values) {
      if (value !== undefined) this.#slots[this.#find(value.id)] = value
    }
  }
}

function emptySlots<Value>(length: number): (Value | undefined)[] {
  return Array.from({ length })
}

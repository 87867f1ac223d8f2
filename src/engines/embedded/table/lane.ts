import type { WaiterRecord } from './waiter-record.ts'

/** Below this many places a lane is not worth tidying. */
const TIDY_PLACES_MIN = 64

/**
 * One lane of a queue: an array with holes. The head leaves by moving the start, anyone else by leaving a
 * hole; when half of the array is holes or gone by, it is tidied. Every step is O(1) over time.
 */
export class Lane {
  #places: (WaiterRecord | undefined)[] = []
  /** The number of the first place in the array. */
  #base = 0
  /** Index of the head in the array. */
  #start = 0
  length = 0

  get head(): WaiterRecord | undefined {
    return this.#places[this.#start]
  }

  push(waiter: WaiterRecord): void {
    waiter.place = this.#base + this.#places.length
    this.#places.push(waiter)
    this.length += 1
  }

  next(waiter: WaiterRecord): WaiterRecord | undefined {
    for (let index = waiter.place - this.#base + 1; index < this.#places.length; index += 1) {
      const other = this.#places[index]
      if (other !== undefined) return other
    }
    return undefined
  }

  remove(waiter: WaiterRecord): void {
    this.#places[waiter.place - this.#base] = undefined
    this.length -= 1
    while (this.#start < this.#places.length && this.#places[this.#start] === undefined) {
      this.#start += 1
    }
    if (this.#places.length > TIDY_PLACES_MIN && this.length * 2 < this.#places.length) this.#tidy()
  }

  #tidy(): void {
    this.#base += this.#places.length
    const waiters = this.#places.filter((waiter) => waiter !== undefined)
    let place = this.#base
    for (const waiter of waiters) {
      waiter.place = place
      place += 1
    }
    this.#places = waiters
    this.#start = 0
  }

  /** How many stand ahead of it in this lane. */
  ahead(waiter: WaiterRecord): number {
    const index = waiter.place - this.#base
    const hasHoles = this.#places.length - this.#start > this.length
    if (!hasHoles) return index - this.#start
    let count = 0
    for (let at = this.#start; at < index; at += 1) if (this.#places[at] !== undefined) count += 1
    return count
  }

  *[Symbol.iterator](): Iterator<WaiterRecord> {
    for (let index = this.#start; index < this.#places.length; index += 1) {
      const waiter = this.#places[index]
      if (waiter !== undefined) yield waiter
    }
  }
}

import type { WaiterRecord } from './waiter-record.ts'

/** One lane of a queue: a linked list, in which every waiter knows who is next to it. */
export class Lane {
  head: WaiterRecord | undefined = undefined
  #tail: WaiterRecord | undefined = undefined
  #pushed = 0
  length = 0

  push(waiter: WaiterRecord): void {
    waiter.place = this.#pushed
    this.#pushed += 1
    this.length += 1
    waiter.before = this.#tail
    if (this.#tail === undefined) this.head = waiter
    else this.#tail.behind = waiter
    this.#tail = waiter
  }

  remove(waiter: WaiterRecord): void {
    const { before, behind } = waiter
    if (before === undefined) this.head = behind
    else before.behind = behind
    if (behind === undefined) this.#tail = before
    else behind.before = before
    // A waiter that has left must not keep the others alive.
    waiter.before = undefined
    waiter.behind = undefined
    this.length -= 1
  }

  /** How many stand ahead of it in this lane: counted only where a waiter between head and tail has left. */
  ahead(waiter: WaiterRecord): number {
    const { head } = this
    if (head === undefined || this.#tail === undefined) return 0
    const isWhole = this.#tail.place - head.place === this.length - 1
    if (isWhole) return waiter.place - head.place
    let count = 0
    for (let other = waiter.before; other !== undefined; other = other.before) count += 1
    return count
  }

  *[Symbol.iterator](): Iterator<WaiterRecord> {
    for (let waiter = this.head; waiter !== undefined; waiter = waiter.behind) yield waiter
  }
}

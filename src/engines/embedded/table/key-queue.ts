import { FreshMap } from './fresh-map.ts'
import { Lane } from './lane.ts'
import type { WaiterRecord } from './waiter-record.ts'

const NO_WAITERS: readonly WaiterRecord[] = Object.freeze([])

/** The queue of one key: its lanes, its upgraders, and where each owner's waiters are. */
export class KeyQueue {
  readonly #lanes: Lane[]
  /** Nearly every owner waits once, and such a waiter stands here without a list around it. */
  readonly #byOwner = new FreshMap<WaiterRecord | WaiterRecord[]>()
  /** How many owners wait more than once. */
  #crowds = 0
  /** The latest to come: whoever adds a waiter asks for it next. */
  #latest: WaiterRecord | undefined
  readonly #byType = new Map<string, Set<WaiterRecord>>()
  readonly #passes: number[] = []
  upgraders: readonly WaiterRecord[] = NO_WAITERS
  length = 0

  constructor(lanes: number) {
    this.#lanes = Array.from({ length: lanes }, () => new Lane())
  }

  #lane(index: number): Lane {
    const lane = this.#lanes[index]
    if (lane === undefined) throw new RangeError(`there is no lane ${index}`)
    return lane
  }

  add(waiter: WaiterRecord): void {
    this.length += 1
    if (waiter.upgrade) this.upgraders = [...this.upgraders, waiter]
    else this.#lane(waiter.lane).push(waiter)
    this.#latest = waiter
    const own = this.#byOwner.get(waiter.owner)
    if (own === undefined) this.#byOwner.set(waiter.owner, waiter)
    else this.#crowd(own, waiter)
    if (waiter.operation !== undefined) this.#ofType(waiter.operation.type).add(waiter)
  }

  #crowd(own: WaiterRecord | WaiterRecord[], waiter: WaiterRecord): void {
    if (!Array.isArray(own)) this.#crowds += 1
    this.#byOwner.set(waiter.owner, Array.isArray(own) ? [...own, waiter] : [own, waiter])
  }

  #ofType(type: string): Set<WaiterRecord> {
    let waiters = this.#byType.get(type)
    if (waiters === undefined) {
      waiters = new Set()
      this.#byType.set(type, waiters)
    }
    return waiters
  }

  remove(waiter: WaiterRecord): void {
    this.length -= 1
    if (waiter.upgrade) this.upgraders = this.upgraders.filter((other) => other !== waiter)
    else this.#lane(waiter.lane).remove(waiter)
    if (this.#latest === waiter) this.#latest = undefined
    const own = this.#crowds === 0 ? waiter : this.#byOwner.get(waiter.owner)
    if (Array.isArray(own)) this.#thin(own, waiter)
    else this.#byOwner.delete(waiter.owner)
    if (waiter.operation !== undefined) this.#ofType(waiter.operation.type).delete(waiter)
  }

  #thin(own: readonly WaiterRecord[], waiter: WaiterRecord): void {
    const [first, ...others] = own.filter((other) => other !== waiter)
    if (first === undefined) return
    if (others.length === 0) this.#crowds -= 1
    this.#byOwner.set(waiter.owner, others.length === 0 ? first : [first, ...others])
  }

  /** A waiter whose owner came to hold: it goes from its lane to the upgraders. */
  toUpgrader(waiter: WaiterRecord): void {
    this.#lane(waiter.lane).remove(waiter)
    waiter.upgrade = true
    this.upgraders = [...this.upgraders, waiter]
  }

  head(lane: number): WaiterRecord | undefined {
    return this.#lane(lane).head
  }

  next(waiter: WaiterRecord): WaiterRecord | undefined {
    return this.#lane(waiter.lane).next(waiter)
  }

  laneLength(lane: number): number {
    return this.#lane(lane).length
  }

  position(waiter: WaiterRecord): number {
    if (waiter.upgrade) return this.upgraders.indexOf(waiter) + 1
    let ahead = this.upgraders.length + this.#lane(waiter.lane).ahead(waiter)
    for (let lane = 0; lane < waiter.lane; lane += 1) ahead += this.#lane(lane).length
    return ahead + 1
  }

  waiter(owner: string, requestId: string): WaiterRecord | undefined {
    const latest = this.#latest
    if (latest?.owner === owner && latest.requestId === requestId) return latest
    const own = this.#byOwner.get(owner)
    if (own === undefined) return undefined
    if (Array.isArray(own)) return own.find((waiter) => waiter.requestId === requestId)
    return own.requestId === requestId ? own : undefined
  }

  waitersOf(owner: string): readonly WaiterRecord[] {
    const own = this.#byOwner.get(owner)
    if (own === undefined) return NO_WAITERS
    return Array.isArray(own) ? own : [own]
  }

  waitersOfType(type: string): Iterable<WaiterRecord> {
    return this.#byType.get(type) ?? NO_WAITERS
  }

  passes(lane: number): number {
    return this.#passes[lane] ?? 0
  }

  setPasses(lane: number, passes: number): void {
    this.#passes[lane] = passes
  }

  /** In the order of their positions. */
  *[Symbol.iterator](): Iterator<WaiterRecord> {
    yield* this.upgraders
    for (const lane of this.#lanes) yield* lane
  }
}

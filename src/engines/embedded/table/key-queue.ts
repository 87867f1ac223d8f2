import { Groups } from './groups.ts'
import { Lane } from './lane.ts'
import type { WaiterRecord } from './waiter-record.ts'

const NO_WAITERS: readonly WaiterRecord[] = Object.freeze([])

/** The queue of one key: its lanes, its upgraders, and where each owner's waiters are. */
export class KeyQueue {
  readonly #lanes: Lane[]
  readonly #byOwner = new Groups<string, WaiterRecord>()
  readonly #byType = new Groups<string, WaiterRecord>()
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
    this.#byOwner.add(waiter.owner, waiter)
    if (waiter.operation !== undefined) this.#byType.add(waiter.operation.type, waiter)
  }

  remove(waiter: WaiterRecord): void {
    this.length -= 1
    if (waiter.upgrade) this.upgraders = this.upgraders.filter((other) => other !== waiter)
    else this.#lane(waiter.lane).remove(waiter)
    this.#byOwner.delete(waiter.owner, waiter)
    if (waiter.operation !== undefined) this.#byType.delete(waiter.operation.type, waiter)
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
    return this.#byOwner.of(owner).find((waiter) => waiter.requestId === requestId)
  }

  waitersOf(owner: string): readonly WaiterRecord[] {
    return this.#byOwner.of(owner)
  }

  waitersOfType(type: string): Iterable<WaiterRecord> {
    return this.#byType.of(type)
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

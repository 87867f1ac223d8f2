import type { Waiter } from '../../../law/model/view.ts'
import { MissingPart } from './missing-part.ts'
import { dueAtMsOfWaiter, type PlacedWaiter } from './row-codec.ts'

/** Waiters of one key that are kept from one transaction to the next. */
const KEPT_MAX = 256

/** What of a queue was loaded. */
export interface LoadedQueue {
  /** Every waiter there is. */
  isWhole: boolean
  /** By lane, the place up to which it was loaded; `Infinity` for a lane that is whole. */
  readonly lanesUpTo: number[]
  hasHeads: boolean
  hasDue: boolean
  readonly owners: Set<string>
  readonly sessions: Set<string>
  readonly types: Set<string>
  /** Lengths of the lanes as they were in the table. */
  laneLengths: number[] | undefined
  /** How many stood ahead of a place in its lane. */
  readonly ahead: Map<number, number>
}

/**
 * The part of a queue that a decision sees. A queue of a few is loaded whole; of a long one only what was
 * asked for, and what was not says so when it is looked at.
 */
export class QueueSnapshot {
  readonly loaded: LoadedQueue = {
    isWhole: false,
    lanesUpTo: [],
    hasHeads: false,
    hasDue: false,
    owners: new Set(),
    sessions: new Set(),
    types: new Set(),
    laneLengths: undefined,
    ahead: new Map(),
  }
  length: number
  nextPlace: number
  /** By place. */
  readonly #waiters = new Map<number, PlacedWaiter>()
  /** The places of those. */
  readonly #placesOf = new Map<string, Set<number>>()
  /** Places of waiters that are new, or changed, and of those that left. */
  readonly added: Set<number> = new Set()
  readonly changed: Set<number> = new Set()
  readonly gone: Set<number> = new Set()
  /** Waiters of each lane that came or went since they were counted. */
  readonly #grown: number[] = []
  #sorted: readonly PlacedWaiter[] | undefined

  constructor(length: number, nextPlace: number) {
    this.length = length
    this.nextPlace = nextPlace
    if (length === 0) this.loaded.isWhole = true
  }

  /** Take rows from the table. Those that a decision has touched already stay as it left them. */
  take(waiters: Iterable<PlacedWaiter>): void {
    for (const waiter of waiters) {
      if (this.#waiters.has(waiter.place) || this.gone.has(waiter.place)) continue
      this.#note(waiter)
    }
    this.#sorted = undefined
  }

  /** All there are have been taken. */
  takeWhole(): void {
    this.loaded.isWhole = true
  }

  /** All that are loaded, by place. */
  get known(): readonly PlacedWaiter[] {
    this.#sorted ??= [...this.#waiters.values()].sort((one, other) => one.place - other.place)
    return this.#sorted
  }

  at(place: number): PlacedWaiter | undefined {
    return this.#waiters.get(place)
  }

  get upgraders(): readonly PlacedWaiter[] {
    this.#need(this.loaded.hasHeads, { kind: 'heads' })
    return this.known.filter(({ upgrade }) => upgrade)
  }

  head(lane: number): PlacedWaiter | undefined {
    this.#need(this.loaded.hasHeads, { kind: 'heads' })
    return this.#firstBehind(lane, 0)
  }

  next(waiter: Waiter): PlacedWaiter | undefined {
    return this.#firstBehind(waiter.lane, placeOf(waiter))
  }

  #firstBehind(lane: number, place: number): PlacedWaiter | undefined {
    for (const waiter of this.known) {
      if (waiter.place <= place || waiter.upgrade || waiter.lane !== lane) continue
      const upTo = this.#upTo(lane)
      if (waiter.place > upTo) break
      return waiter
    }
    const behind = this.#upTo(lane)
    this.#need(behind === Infinity, { kind: 'lane', lane, behind })
    return undefined
  }

  #upTo(lane: number): number {
    return this.loaded.isWhole ? Infinity : (this.loaded.lanesUpTo[lane] ?? 0)
  }

  laneLength(lane: number): number {
    if (this.loaded.isWhole) {
      return this.known.filter((waiter) => !waiter.upgrade && waiter.lane === lane).length
    }
    const { laneLengths } = this.loaded
    if (laneLengths === undefined) throw new MissingPart({ kind: 'lane-lengths' })
    return (laneLengths[lane] ?? 0) + (this.#grown[lane] ?? 0)
  }

  position(waiter: Waiter): number {
    const { upgraders } = this
    if (waiter.upgrade) return upgraders.findIndex((other) => isSame(other, waiter)) + 1
    let ahead = upgraders.length + this.#aheadInLane(waiter.lane, placeOf(waiter))
    for (let lane = 0; lane < waiter.lane; lane += 1) ahead += this.laneLength(lane)
    return ahead + 1
  }

  #aheadInLane(lane: number, place: number): number {
    if (this.loaded.isWhole || place <= this.#upTo(lane)) {
      const isAhead = (other: PlacedWaiter): boolean =>
        !other.upgrade && other.lane === lane && other.place < place
      return this.known.filter(isAhead).length
    }
    const ahead = this.loaded.ahead.get(place)
    if (ahead === undefined) throw new MissingPart({ kind: 'ahead', lane, place })
    return ahead
  }

  waiter(owner: string, requestId: string): PlacedWaiter | undefined {
    const isMeant = (waiter: PlacedWaiter): boolean => waiter.requestId === requestId
    return this.#knownOf(owner).find(isMeant) ?? this.waitersOf(owner).find(isMeant)
  }

  waitersOf(owner: string): readonly PlacedWaiter[] {
    this.#need(this.loaded.owners.has(owner), { kind: 'waiters-of', owner })
    return this.#knownOf(owner)
  }

  /** Those of an owner that are loaded, by place. */
  #knownOf(owner: string): PlacedWaiter[] {
    const places = [...(this.#placesOf.get(owner) ?? [])].sort((one, other) => one - other)
    return places.flatMap((place) => this.#waiters.get(place) ?? [])
  }

  waitersIn(session: string): readonly PlacedWaiter[] {
    this.#need(this.loaded.sessions.has(session), { kind: 'waiters-in', session })
    return this.known.filter((waiter) => waiter.session === session)
  }

  waitersOfType(type: string): readonly PlacedWaiter[] {
    this.#need(this.loaded.types.has(type), { kind: 'waiters-of-type', type })
    return this.known.filter((waiter) => waiter.operation?.type === type)
  }

  due(nowMs: number): readonly PlacedWaiter[] {
    this.#need(this.loaded.hasDue, { kind: 'due-waiters' })
    const due = this.known.filter((waiter) => dueAtMsOfWaiter(waiter) <= nowMs)
    return due.sort((one, other) => dueAtMsOfWaiter(one) - dueAtMsOfWaiter(other))
  }

  add(waiter: Waiter, process: string | undefined): PlacedWaiter {
    const placed = { ...waiter, place: this.nextPlace, process }
    this.nextPlace += 1
    this.length += 1
    this.loaded.ahead.set(placed.place, this.#lengthOfLaneIfKnown(waiter.lane))
    this.#grow(waiter, 1)
    this.#put(placed)
    this.added.add(placed.place)
    return placed
  }

  /** Nobody asks for a place that was not counted: an answer has its position from the law. */
  #lengthOfLaneIfKnown(lane: number): number {
    return this.loaded.isWhole || this.loaded.laneLengths !== undefined ? this.laneLength(lane) : 0
  }

  keep(before: Waiter, waiter: Waiter, process: string | undefined): void {
    const { place } = this.#find(before)
    if (waiter.upgrade && !before.upgrade) this.#grow(before, -1)
    this.#put({ ...waiter, place, process })
    if (!this.added.has(place)) this.changed.add(place)
  }

  remove(waiter: Waiter): PlacedWaiter {
    const placed = this.#find(waiter)
    this.#waiters.delete(placed.place)
    this.#placesOf.get(placed.owner)?.delete(placed.place)
    this.changed.delete(placed.place)
    if (!this.added.delete(placed.place)) this.gone.add(placed.place)
    this.#sorted = undefined
    this.length -= 1
    this.#grow(placed, -1)
    return placed
  }

  /** All of it was written. Of a long queue the first are kept. */
  commit(): void {
    this.added.clear()
    this.changed.clear()
    this.gone.clear()
    this.loaded.hasDue = false
    this.loaded.ahead.clear()
    if (this.#waiters.size > KEPT_MAX) this.#forgetAll()
  }

  /** More than are worth keeping: the heads are read again when they are needed. */
  #forgetAll(): void {
    const { loaded } = this
    this.#waiters.clear()
    this.#placesOf.clear()
    this.#sorted = undefined
    this.#grown.length = 0
    loaded.isWhole = false
    loaded.hasHeads = false
    loaded.laneLengths = undefined
    loaded.lanesUpTo.length = 0
    for (const names of [loaded.owners, loaded.sessions, loaded.types]) names.clear()
  }

  #note(waiter: PlacedWaiter): void {
    const { owner, place } = waiter
    this.#waiters.set(place, waiter)
    const places = this.#placesOf.get(owner)
    if (places === undefined) this.#placesOf.set(owner, new Set([place]))
    else places.add(place)
  }

  #put(waiter: PlacedWaiter): void {
    this.#note(waiter)
    this.#sorted = undefined
  }

  #grow({ upgrade, lane }: Waiter, by: number): void {
    if (!upgrade) this.#grown[lane] = (this.#grown[lane] ?? 0) + by
  }

  #find(waiter: Waiter): PlacedWaiter {
    const found = this.#knownOf(waiter.owner).find((other) => isSame(other, waiter))
    if (found === undefined) throw new Error('a waiter that changes was seen before')
    return found
  }

  #need(isLoaded: boolean, part: MissingPart['part']): void {
    if (!isLoaded && !this.loaded.isWhole) throw new MissingPart(part)
  }
}

function placeOf(waiter: Waiter): number {
  return (waiter as PlacedWaiter).place
}

function isSame(one: Waiter, other: Waiter): boolean {
  return one.owner === other.owner && one.requestId === other.requestId
}

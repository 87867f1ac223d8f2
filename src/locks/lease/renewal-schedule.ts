import type { SessionLoss } from '../../engine/engine.ts'
import type { Clock, Timer } from '../../time/clock.ts'

/**
 * One timer for every lease of a `Locks`. Most locks are released long before their first renewal, so
 * what has to be cheap is to enter and to leave: both are a few pointer writes here, and neither
 * touches the timer unless an entry falls due before everything else.
 *
 * Delays are rounded down to a class, eight to every power of two, and each class has a list. Time only
 * goes forward, so inside a list entries fall due in the order in which they entered, and the next one
 * due is at the head of one of some two hundred lists. An entry may thus be looked at up to an eighth
 * of its delay too early; the entry itself decides whether it is time.
 */

/** What can be scheduled. The first four members belong to the schedule. */
export interface Scheduled {
  dueAtMs: number
  list: ScheduleList | null
  previous: Scheduled | null
  next: Scheduled | null
  /** Its time has come, or is near. It is in no list any more. */
  fallDue(nowMs: number): void
  /** The schedule ends. It is in no list any more. */
  dismiss(): void
  /** Something that was held in the engine's session was lost; it need not be this. */
  hear?(loss: SessionLoss): void
}

export interface ScheduleList {
  head: Scheduled | null
  tail: Scheduled | null
}

export class RenewalSchedule {
  readonly #clock: Clock
  readonly #lists: ScheduleList[] = []
  readonly #parked: ScheduleList = { head: null, tail: null }
  #timer: Timer | null = null
  #armedForMs = Number.POSITIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Look at the entry in `delayMs`, counted from `nowMs`, which is the present reading of the clock. */
  add(entry: Scheduled, nowMs: number, delayMs: number): void {
    if (entry.list !== null) unlink(entry, entry.list)
    const index = classOf(delayMs)
    const list = (this.#lists[index] ??= { head: null, tail: null })
    entry.dueAtMs = Math.ceil(nowMs) + delayOf(index)
    append(entry, list)
    if (entry.dueAtMs < this.#armedForMs) this.#arm(entry.dueAtMs, nowMs)
  }

  /** Keep the entry without a time, so that `close` reaches it. */
  park(entry: Scheduled): void {
    if (entry.list !== null) unlink(entry, entry.list)
    append(entry, this.#parked)
  }

  /** Harmless for an entry that is in no list. */
  remove(entry: Scheduled): void {
    if (entry.list !== null) unlink(entry, entry.list)
  }

  /** Every entry; a copy, so that entries may come and go meanwhile. */
  all(): readonly Scheduled[] {
    const all: Scheduled[] = []
    for (const list of [this.#parked, ...this.#lists]) {
      for (let entry = list?.head ?? null; entry !== null; entry = entry.next) all.push(entry)
    }
    return all
  }

  /** Dismiss every entry and stop the timer. */
  close(): void {
    this.#disarm()
    for (const list of [this.#parked, ...this.#lists]) {
      // Lists of classes that were never used are holes.
      for (let entry = list?.head ?? null; entry !== null; entry = list?.head ?? null) {
        this.remove(entry)
        entry.dismiss()
      }
    }
    this.#disarm()
  }

  #arm(dueAtMs: number, nowMs: number): void {
    this.#timer?.cancel()
    this.#armedForMs = dueAtMs
    this.#timer = this.#clock.setTimer(dueAtMs - nowMs, () => this.#fire())
  }

  #disarm(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#armedForMs = Number.POSITIVE_INFINITY
  }

  #fire(): void {
    this.#disarm()
    const nowMs = this.#clock.nowMs()
    let nextMs = Number.POSITIVE_INFINITY
    for (const list of this.#lists) {
      if (list === undefined) continue
      this.#fireList(list, nowMs)
      if (list.head !== null) nextMs = Math.min(nextMs, list.head.dueAtMs)
    }
    if (nextMs < this.#armedForMs) this.#arm(nextMs, nowMs)
  }

  /** It ends: an entry that enters again meanwhile is due a millisecond later at the earliest. */
  #fireList(list: ScheduleList, nowMs: number): void {
    for (let entry = list.head; entry !== null && entry.dueAtMs <= nowMs; entry = list.head) {
      this.remove(entry)
      entry.fallDue(nowMs)
    }
  }
}

function append(entry: Scheduled, list: ScheduleList): void {
  const { tail } = list
  entry.list = list
  entry.previous = tail
  if (tail === null) list.head = entry
  else tail.next = entry
  list.tail = entry
}

function unlink(entry: Scheduled, list: ScheduleList): void {
  const { previous, next } = entry
  if (previous === null) list.head = next
  else previous.next = next
  if (next === null) list.tail = previous
  else next.previous = previous
  entry.list = null
  entry.previous = null
  entry.next = null
}

/** Delays below 8 ms have a class each; above, the three bits after the first decide. */
function classOf(delayMs: number): number {
  const wholeMs = Math.max(1, Math.floor(delayMs))
  if (wholeMs < 8) return wholeMs
  const octave = 31 - Math.clz32(wholeMs)
  return (octave - 2) * 8 + ((wholeMs >>> (octave - 3)) & 7)
}

/** The shortest delay of a class. */
function delayOf(index: number): number {
  if (index < 8) return index
  return (8 + (index & 7)) << ((index >>> 3) - 1)
}

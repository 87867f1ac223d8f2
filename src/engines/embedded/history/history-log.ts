import type { RecordWriter } from '../record-writer.ts'

/** What a record says beside its bytes. */
export interface RecordFacts {
  readonly toMs: number
  /** The number of its key. */
  readonly key: number
  /** Its number among the records of its key; goes round at 2^32. */
  readonly ordinal: number
  /** Where the previous record of its key stands. */
  readonly previousOfKey: number
}

const FIRST_BYTES = 64 * 1024
/** Before the bytes of a record: the instant, and five numbers of four bytes. */
const PREFIX_BYTES = 28
const LENGTH = 2
const PREVIOUS = 3
const KEY = 4
const ORDINAL = 5
const PREVIOUS_OF_KEY = 6

/**
 * Records one after the other in one piece of memory, each with a few numbers before its bytes, so that
 * a hundred thousand of them are a single object for the garbage collector. What goes is passed by at the
 * beginning, or is squeezed out when there is no more room.
 *
 * A place is where a record begins, in bytes; it counts until the next squeeze. A later record has a
 * higher place.
 */
export class HistoryLog {
  #bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #integers = new Int32Array(this.#bytes.buffer)
  #instants = new Float64Array(this.#bytes.buffer)
  #first = 0
  #last = 0
  #end = 0

  get isEmpty(): boolean {
    return this.#first === this.#end
  }

  /** The place of the oldest record; the end where there is none. */
  get first(): number {
    return this.#first
  }

  /** The place of the newest record. */
  get last(): number {
    return this.#last
  }

  /** Where the next record will stand. */
  get end(): number {
    return this.#end
  }

  /** The memory in which the bytes of all records are, until the next squeeze. */
  get bytes(): Buffer {
    return this.#bytes
  }

  hasRoom(length: number): boolean {
    return this.#end + sizeOf(length) <= this.#bytes.length
  }

  /** Takes the bytes from the writer. There must be room for them. Returns the place. */
  append(writer: RecordWriter, { toMs, key, ordinal, previousOfKey }: RecordFacts): number {
    const at = this.#end
    const { length } = writer
    const integers = this.#integers
    const base = at >> 2
    this.#instants[at >> 3] = toMs
    integers[base + LENGTH] = length
    integers[base + PREVIOUS] = this.#last
    integers[base + KEY] = key
    integers[base + ORDINAL] = ordinal
    integers[base + PREVIOUS_OF_KEY] = previousOfKey
    writer.takeTo(this.#bytes, at + PREFIX_BYTES)
    this.#last = at
    this.#end = at + sizeOf(length)
    return at
  }

  /** The oldest record is gone. */
  dropFirst(): void {
    this.#first = this.next(this.#first)
  }

  next(at: number): number {
    return at + sizeOf(this.#integer(at, LENGTH))
  }

  previous(at: number): number {
    return this.#integer(at, PREVIOUS)
  }

  toMs(at: number): number {
    return this.#instants[at >> 3] as number
  }

  key(at: number): number {
    return this.#integer(at, KEY)
  }

  ordinal(at: number): number {
    return this.#integer(at, ORDINAL)
  }

  previousOfKey(at: number): number {
    return this.#integer(at, PREVIOUS_OF_KEY)
  }

  /** Where the bytes of a record begin in `bytes`. */
  startOf(at: number): number {
    return at + PREFIX_BYTES
  }

  /** Where the bytes of a record end in `bytes`. */
  endOf(at: number): number {
    return at + PREFIX_BYTES + this.#integer(at, LENGTH)
  }

  /**
   * Makes room: what is not wanted goes, the rest moves to the beginning. `keep` is told the new place of
   * every record that is asked for, oldest first, and says whether it stays; it returns the new place of
   * the previous record of the same key, or -1 for one that goes.
   */
  squeeze(length: number, keep: (key: number, ordinal: number, place: number) => number): void {
    const integers = this.#integers
    let to = 0
    let last = 0
    let next = 0
    for (let at = this.#first; at < this.#end; at = next) {
      next = this.next(at)
      const previousOfKey = keep(this.key(at), this.ordinal(at), to)
      if (previousOfKey === -1) continue
      if (to !== at) move(integers, { from: at >> 2, end: next >> 2, to: to >> 2 })
      integers[(to >> 2) + PREVIOUS] = last
      integers[(to >> 2) + PREVIOUS_OF_KEY] = previousOfKey
      last = to
      to += next - at
    }
    this.#first = 0
    this.#last = last
    this.#end = to
    this.#growFor(length)
  }

  /** At least half of the memory is free after a squeeze, so that the next one is worth it. */
  #growFor(length: number): void {
    let size = this.#bytes.length
    while (this.#end > size / 2 || this.#end + sizeOf(length) > size) size *= 2
    if (size === this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(size)
    this.#bytes.copy(larger, 0, 0, this.#end)
    this.#bytes = larger
    this.#integers = new Int32Array(larger.buffer)
    this.#instants = new Float64Array(larger.buffer)
  }

  #integer(at: number, field: number): number {
    return this.#integers[(at >> 2) + field] as number
  }
}

/** Quicker than a call out of JavaScript for what is as short as a record. */
function move(
  integers: Int32Array,
  { from, end, to }: { readonly from: number; readonly end: number; readonly to: number },
): void {
  const back = from - to
  for (let at = from; at < end; at += 1) integers[at - back] = integers[at] as number
}

/** Records begin where an instant can stand: at a multiple of eight. */
function sizeOf(length: number): number {
  return (PREFIX_BYTES + length + 7) & ~7
}

const FIRST_BYTES = 1024
/** A buffer that has grown beyond this for one large record is not kept for the next. */
const KEPT_BYTES = 1024 * 1024
/** Longer texts are left to the buffer, which copies a block at a time. */
const SHORT_TEXT_UNITS = 48
/** The largest number that the operators on bits take as it is. */
const INTEGER_MAX = 2 ** 31 - 1
const LOW_HALF = 2 ** 28

/** Writes numbers and texts into one growing buffer that is used again for the next record. */
export class RecordWriter {
  #buffer: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  /** Views of the buffer by their length: most records have one of a few, and making a view is dear. */
  #views: (Buffer | undefined)[] = []
  #length = 0

  get isEmpty(): boolean {
    return this.#length === 0
  }

  /** What was written since the last `take`; valid until the next write. */
  take(): Buffer {
    const length = this.#length
    this.#length = 0
    if (length > KEPT_BYTES) return this.#giveAway(length)
    if (length > FIRST_BYTES) return this.#buffer.subarray(0, length)
    let view = this.#views[length]
    if (view === undefined) {
      view = this.#buffer.subarray(0, length)
      this.#views[length] = view
    }
    return view
  }

  #giveAway(length: number): Buffer {
    const large = this.#buffer
    this.#buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
    this.#views = []
    return large.subarray(0, length)
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#buffer[this.#length] = value
    this.#length += 1
  }

  /** A whole number up to 2^53, seven bits a byte. */
  number(value: number): void {
    this.#reserve(8)
    let rest = value
    if (rest > INTEGER_MAX) {
      // Times of day are this large. In two halves, both are integers for the processor as well.
      rest = Math.floor(value / LOW_HALF)
      this.#lowHalf(value - rest * LOW_HALF)
    }
    while (rest >= 0x80) {
      this.#buffer[this.#length] = (rest & 0x7f) | 0x80
      this.#length += 1
      rest >>>= 7
    }
    this.#buffer[this.#length] = rest
    this.#length += 1
  }

  /** Four bytes of seven bits each, after which more come. */
  #lowHalf(value: number): void {
    const buffer = this.#buffer
    const at = this.#length
    buffer[at] = (value & 0x7f) | 0x80
    buffer[at + 1] = ((value >>> 7) & 0x7f) | 0x80
    buffer[at + 2] = ((value >>> 14) & 0x7f) | 0x80
    buffer[at + 3] = (value >>> 21) | 0x80
    this.#length = at + 4
  }

  text(value: string): void {
    // A UTF-16 unit takes at most three bytes; the length is written in two, which is enough for all limits.
    this.#reserve(value.length * 3 + 2)
    const start = this.#length + 2
    const isShort = value.length <= SHORT_TEXT_UNITS
    const written =
      isShort && this.#writeAscii(value, start)
        ? value.length
        : this.#buffer.write(value, start, 'utf8')
    this.#buffer[start - 2] = written & 0xff
    this.#buffer[start - 1] = written >>> 8
    this.#length = start + written
  }

  /** Quicker than a call out of JavaScript for a short text. False when it is not plain ASCII. */
  #writeAscii(value: string, start: number): boolean {
    const buffer = this.#buffer
    for (let index = 0; index < value.length; index += 1) {
      const unit = value.charCodeAt(index)
      if (unit > 0x7f) return false
      buffer[start + index] = unit
    }
    return true
  }

  optional(value: string | undefined): void {
    this.byte(value === undefined ? 0 : 1)
    if (value !== undefined) this.text(value)
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
    this.#views = []
  }
}

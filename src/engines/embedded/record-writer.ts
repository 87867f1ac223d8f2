const FIRST_BYTES = 1024

/** Writes numbers and texts into one growing buffer that is used again for the next record. */
export class RecordWriter {
  #buffer: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #length = 0

  get isEmpty(): boolean {
    return this.#length === 0
  }

  /** What was written since the last `take`; valid until the next write. */
  take(): Buffer {
    const bytes = this.#buffer.subarray(0, this.#length)
    this.#length = 0
    return bytes
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
    while (rest >= 0x80) {
      this.#buffer[this.#length] = (rest % 0x80) | 0x80
      this.#length += 1
      rest = Math.floor(rest / 0x80)
    }
    this.#buffer[this.#length] = rest
    this.#length += 1
  }

  text(value: string): void {
    // A UTF-16 unit takes at most three bytes; the length is written in two, which is enough for all limits.
    this.#reserve(value.length * 3 + 2)
    const written = this.#buffer.write(value, this.#length + 2, 'utf8')
    this.#buffer.writeUInt16LE(written, this.#length)
    this.#length += written + 2
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
  }
}

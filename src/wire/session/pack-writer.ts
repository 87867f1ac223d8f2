const BYTES_FIRST = 4 * 1024
/** A buffer that grew beyond this for one large frame is not kept for the next. */
const BYTES_KEPT_MAX = 256 * 1024
/** Up to this length a loop is faster than the encoder of the platform. */
const LOOP_CHARS_MAX = 64

const encoder = new TextEncoder()

/**
 * Writes the part of MessagePack that the protocol uses: nil, booleans, numbers, strings and the heads of
 * arrays. Everything that was written since the last `take` is one frame.
 */
export class PackWriter {
  /** The session of the connection, which messages name by an empty text. */
  ownSession = ''
  #bytes = new Uint8Array(BYTES_FIRST)
  #view = new DataView(this.#bytes.buffer)
  #at = 0

  /** How many bytes have been written since the last `take`. */
  get length(): number {
    return this.#at
  }

  /** The frame, in bytes of its own. Small ones share a block of memory. */
  take(): Buffer {
    const frame = Buffer.from(this.#bytes.subarray(0, this.#at))
    this.reset()
    return frame
  }

  reset(): void {
    this.#at = 0
    if (this.#bytes.length > BYTES_KEPT_MAX) this.#replace(new Uint8Array(BYTES_FIRST))
  }

  /** Forget what was written after the frame had this length. */
  rewind(length: number): void {
    this.#at = length
  }

  nil(): void {
    this.#reserve(1)
    this.#bytes[this.#at++] = 0xc0
  }

  bool(value: boolean): void {
    this.#reserve(1)
    this.#bytes[this.#at++] = value ? 0xc3 : 0xc2
  }

  /** Small whole numbers in one, two, three or five bytes, all others as a float of eight. */
  number(value: number): void {
    this.#reserve(9)
    if (value >= 0 && value <= 0xffffffff && Number.isInteger(value)) return this.#whole(value)
    if (value === -1) {
      this.#bytes[this.#at++] = 0xff
      return
    }
    this.#bytes[this.#at] = 0xcb
    this.#view.setFloat64(this.#at + 1, value)
    this.#at += 9
  }

  text(value: string): void {
    const { length } = value
    // UTF-16 code units become three bytes each at most.
    this.#reserve(5 + length * 3)
    if (length <= LOOP_CHARS_MAX && this.#ascii(value)) return
    const headAt = this.#at
    const { written } = encoder.encodeInto(value, this.#bytes.subarray(headAt + 5))
    this.#textHead(written)
    this.#bytes.copyWithin(this.#at, headAt + 5, headAt + 5 + written)
    this.#at += written
  }

  /** The head of a message; its members follow. */
  array(length: number): void {
    this.#reserve(1)
    if (length > 15) throw new RangeError('no message has so many fields')
    this.#bytes[this.#at++] = 0x90 | length
  }

  #whole(value: number): void {
    if (value < 0x80) {
      this.#bytes[this.#at++] = value
    } else if (value < 0x100) {
      this.#bytes[this.#at++] = 0xcc
      this.#bytes[this.#at++] = value
    } else if (value < 0x10000) {
      this.#bytes[this.#at] = 0xcd
      this.#view.setUint16(this.#at + 1, value)
      this.#at += 3
    } else {
      this.#bytes[this.#at] = 0xce
      this.#view.setUint32(this.#at + 1, value)
      this.#at += 5
    }
  }

  /** False, and nothing is written, if there is more than ASCII in it. */
  #ascii(value: string): boolean {
    const { length } = value
    const bytes = this.#bytes
    let at = this.#at + (length < 32 ? 1 : 2)
    for (let index = 0; index < length; index += 1) {
      const code = value.charCodeAt(index)
      if (code > 127) return false
      bytes[at++] = code
    }
    this.#textHead(length)
    this.#at = at
    return true
  }

  #textHead(length: number): void {
    if (length < 32) {
      this.#bytes[this.#at++] = 0xa0 | length
    } else if (length < 0x100) {
      this.#bytes[this.#at++] = 0xd9
      this.#bytes[this.#at++] = length
    } else if (length < 0x10000) {
      this.#bytes[this.#at] = 0xda
      this.#view.setUint16(this.#at + 1, length)
      this.#at += 3
    } else {
      this.#bytes[this.#at] = 0xdb
      this.#view.setUint32(this.#at + 1, length)
      this.#at += 5
    }
  }

  #reserve(count: number): void {
    const needed = this.#at + count
    if (needed <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
    grown.set(this.#bytes.subarray(0, this.#at))
    this.#replace(grown)
  }

  #replace(bytes: Uint8Array<ArrayBuffer>): void {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer)
  }
}

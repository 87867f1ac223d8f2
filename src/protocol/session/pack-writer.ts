import { ProtocolError } from './protocol-error.ts'
import { PACK_DEPTH_MAX, PACK_STRING_BYTES_MAX } from './session-limits.ts'

const BYTES_FIRST = 4 * 1024
/** A buffer that grew beyond this for one large frame is not kept for the next. */
const BYTES_KEPT_MAX = 256 * 1024
/** Up to this length a loop is faster than the encoder of the platform. */
const LOOP_CHARS_MAX = 64
const TWO_TO_32 = 2 ** 32

const encoder = new TextEncoder()

/**
 * Writes the subset of MessagePack that the protocol uses: nil, booleans, integers, float 64, strings,
 * arrays and maps. Everything that was written since the last `take` is one frame.
 */
export class PackWriter {
  readonly #room: number
  #bytes = new Uint8Array(BYTES_FIRST)
  #view = new DataView(this.#bytes.buffer)
  #at: number

  /** `room`: how many bytes stay unused in front of every frame, for whoever sends it. */
  constructor(room = 0) {
    this.#room = room
    this.#at = room
  }

  /** How many bytes have been written since the last `take`. */
  get length(): number {
    return this.#at - this.#room
  }

  /**
   * The room and the frame, in bytes of its own and exactly as long as it is. Small ones share a block of
   * memory.
   */
  take(): Buffer {
    const frame = Buffer.from(this.#bytes.subarray(0, this.#at))
    this.reset()
    return frame
  }

  reset(): void {
    this.#at = this.#room
    if (this.#bytes.length > BYTES_KEPT_MAX) this.#replace(new Uint8Array(BYTES_FIRST))
  }

  /** Forget what was written after the frame had this length: a message that turned out wrong. */
  rewind(length: number): void {
    this.#at = this.#room + length
  }

  nil(): void {
    this.#reserve(1)
    this.#bytes[this.#at++] = 0xc0
  }

  bool(value: boolean): void {
    this.#reserve(1)
    this.#bytes[this.#at++] = value ? 0xc3 : 0xc2
  }

  number(value: number): void {
    if (value >= 0 && value < 128 && Number.isInteger(value)) {
      this.#reserve(1)
      this.#bytes[this.#at++] = value
    } else if (Number.isSafeInteger(value)) {
      this.#reserve(9)
      if (value >= 0) this.#positive(value)
      else this.#negative(value)
    } else {
      this.#reserve(9)
      this.#bytes[this.#at] = 0xcb
      this.#view.setFloat64(this.#at + 1, value)
      this.#at += 9
    }
  }

  string(value: string): void {
    const { length } = value
    // UTF-16 code units become three bytes each at most.
    this.#reserve(5 + length * 3)
    if (length <= LOOP_CHARS_MAX && this.#ascii(value)) return
    const headAt = this.#at
    const guess = headSize(length)
    const { written } = encoder.encodeInto(value, this.#bytes.subarray(headAt + guess))
    if (written > PACK_STRING_BYTES_MAX) throw new ProtocolError('a string is too long')
    const size = headSize(written)
    if (size !== guess) {
      this.#bytes.copyWithin(headAt + size, headAt + guess, headAt + guess + written)
    }
    this.#stringHead(written)
    this.#at += written
  }

  optionalString(value: string | undefined): void {
    if (value === undefined) this.nil()
    else this.string(value)
  }

  optionalNumber(value: number | undefined): void {
    if (value === undefined) this.nil()
    else this.number(value)
  }

  optionalBool(value: boolean | undefined): void {
    if (value === undefined) this.nil()
    else this.bool(value)
  }

  array(length: number): void {
    this.#reserve(5)
    if (length < 16) this.#bytes[this.#at++] = 0x90 | length
    else this.#longHead(0xdc, length)
  }

  map(length: number): void {
    this.#reserve(5)
    if (length < 16) this.#bytes[this.#at++] = 0x80 | length
    else this.#longHead(0xde, length)
  }

  /** Plain data. Members that are `undefined` are left out; in a list they are nil. */
  value(value: unknown, depth = 0): void {
    if (depth > PACK_DEPTH_MAX) throw new ProtocolError('the data is nested too deeply')
    switch (typeof value) {
      case 'string':
        return this.string(value)
      case 'number':
        return this.number(value)
      case 'boolean':
        return this.bool(value)
      case 'undefined':
        return this.nil()
      case 'object':
        if (value === null) return this.nil()
        return Array.isArray(value) ? this.#list(value, depth) : this.#members(value, depth)
      default:
        throw new ProtocolError(`a ${typeof value} is no plain data`)
    }
  }

  #list(values: readonly unknown[], depth: number): void {
    this.array(values.length)
    for (const one of values) this.value(one, depth + 1)
  }

  #members(value: object, depth: number): void {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    this.map(members.length)
    for (const [name, member] of members) {
      this.string(name)
      this.value(member, depth + 1)
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
    this.#stringHead(length)
    this.#at = at
    return true
  }

  #stringHead(length: number): void {
    if (length < 32) {
      this.#bytes[this.#at++] = 0xa0 | length
    } else if (length < 256) {
      this.#bytes[this.#at++] = 0xd9
      this.#bytes[this.#at++] = length
    } else {
      this.#longHead(0xda, length)
    }
  }

  /** With a length of two bytes, or, in the next code, of four. */
  #longHead(code: number, length: number): void {
    if (length < 65_536) {
      this.#bytes[this.#at] = code
      this.#view.setUint16(this.#at + 1, length)
      this.#at += 3
    } else {
      this.#bytes[this.#at] = code + 1
      this.#view.setUint32(this.#at + 1, length)
      this.#at += 5
    }
  }

  #positive(value: number): void {
    if (value < 128) {
      this.#bytes[this.#at++] = value
    } else if (value < 256) {
      this.#bytes[this.#at++] = 0xcc
      this.#bytes[this.#at++] = value
    } else if (value < 65_536) {
      this.#bytes[this.#at] = 0xcd
      this.#view.setUint16(this.#at + 1, value)
      this.#at += 3
    } else if (value < TWO_TO_32) {
      this.#bytes[this.#at] = 0xce
      this.#view.setUint32(this.#at + 1, value)
      this.#at += 5
    } else {
      this.#bytes[this.#at] = 0xcf
      this.#view.setUint32(this.#at + 1, Math.floor(value / TWO_TO_32))
      this.#view.setUint32(this.#at + 5, value % TWO_TO_32)
      this.#at += 9
    }
  }

  #negative(value: number): void {
    if (value >= -32) {
      this.#bytes[this.#at++] = value & 0xff
    } else if (value >= -128) {
      this.#bytes[this.#at] = 0xd0
      this.#view.setInt8(this.#at + 1, value)
      this.#at += 2
    } else if (value >= -32_768) {
      this.#bytes[this.#at] = 0xd1
      this.#view.setInt16(this.#at + 1, value)
      this.#at += 3
    } else if (value >= -(2 ** 31)) {
      this.#bytes[this.#at] = 0xd2
      this.#view.setInt32(this.#at + 1, value)
      this.#at += 5
    } else {
      this.#bytes[this.#at] = 0xd3
      this.#view.setInt32(this.#at + 1, Math.floor(value / TWO_TO_32))
      this.#view.setUint32(this.#at + 5, ((value % TWO_TO_32) + TWO_TO_32) % TWO_TO_32)
      this.#at += 9
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

function headSize(length: number): number {
  if (length < 32) return 1
  if (length < 256) return 2
  return length < 65_536 ? 3 : 5
}

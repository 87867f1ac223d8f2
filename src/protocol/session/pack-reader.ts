import { ProtocolError } from './protocol-error.ts'
import { PACK_DEPTH_MAX, PACK_STRING_BYTES_MAX } from './session-limits.ts'
import { StringCache } from './string-cache.ts'

const TWO_TO_32 = 2 ** 32

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const cache = new StringCache()

/**
 * Reads what a `PackWriter` writes. Whatever the bytes are, it either returns a value or throws a
 * `ProtocolError`; it never reads beyond the frame and never believes a length that the frame does not
 * have. Text that is not UTF-8 is refused and not repaired: two keys must not become one.
 *
 * A message is an array whose members are its fields. Members that a reader does not know are skipped
 * and those that are not there are absent, so that a version can add some at the end.
 */
export class PackReader {
  readonly #bytes: Buffer
  readonly #view: DataView
  readonly #end: number
  #at = 0
  /** How many fields of the present message have not been read. */
  #fields = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#end = bytes.length
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end
  }

  /** Begin a message; returns its code. */
  open(): number {
    this.#fields = this.#arrayLength(this.#byte())
    return this.number()
  }

  /** Skip what is left of the message. */
  close(): void {
    while (this.#fields > 0) this.any()
  }

  number(): number {
    const value = this.optionalNumber()
    if (value === undefined) throw new ProtocolError('a number is missing')
    return value
  }

  string(): string {
    const value = this.optionalString()
    if (value === undefined) throw new ProtocolError('a string is missing')
    return value
  }

  bool(): boolean {
    const value = this.optionalBool()
    if (value === undefined) throw new ProtocolError('a boolean is missing')
    return value
  }

  optionalNumber(): number | undefined {
    if (this.#isAbsent()) return undefined
    const code = this.#byte()
    return code < 128 ? code : this.#longNumber(code)
  }

  optionalString(): string | undefined {
    if (this.#isAbsent()) return undefined
    return this.#text(this.#byte())
  }

  optionalBool(): boolean | undefined {
    if (this.#isAbsent()) return undefined
    const code = this.#byte()
    if (code === 0xc3) return true
    if (code === 0xc2) return false
    throw wrong('a boolean', code)
  }

  /** Plain data of any kind; nil is `null`. */
  any(): unknown {
    if (this.#fields === 0) return null
    this.#fields -= 1
    return this.#value(0)
  }

  /** Plain data that has to be a map. */
  record(): Record<string, unknown> {
    const value = this.any()
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>
    }
    throw new ProtocolError('a map is missing')
  }

  /** Takes one field; true if it is not there or nil. */
  #isAbsent(): boolean {
    if (this.#fields === 0) return true
    this.#fields -= 1
    if (this.#at < this.#end && this.#bytes[this.#at] === 0xc0) {
      this.#at += 1
      return true
    }
    return false
  }

  #value(depth: number): unknown {
    if (depth > PACK_DEPTH_MAX) throw new ProtocolError('the data is nested too deeply')
    const code = this.#byte()
    if (code < 0x80) return code
    if (code < 0x90 || code === 0xde || code === 0xdf) return this.#map(code, depth)
    if (code < 0xa0 || code === 0xdc || code === 0xdd) return this.#array(code, depth)
    if (code < 0xc0 || (code >= 0xd9 && code <= 0xdb)) return this.#text(code)
    if (code === 0xc0) return null
    if (code === 0xc2) return false
    if (code === 0xc3) return true
    return this.#longNumber(code)
  }

  #array(code: number, depth: number): unknown[] {
    const length = this.#arrayLength(code)
    const values: unknown[] = []
    for (let index = 0; index < length; index += 1) values.push(this.#value(depth + 1))
    return values
  }

  #map(code: number, depth: number): Record<string, unknown> {
    const length = this.#mapLength(code)
    const members: Record<string, unknown> = {}
    for (let index = 0; index < length; index += 1) {
      const name = this.#text(this.#byte())
      if (name === '__proto__') throw new ProtocolError('no member may be called __proto__')
      members[name] = this.#value(depth + 1)
    }
    return members
  }

  #arrayLength(code: number): number {
    if (code >= 0x90 && code < 0xa0) return this.#within(code & 0x0f)
    if (code === 0xdc) return this.#within(this.#uint16())
    if (code === 0xdd) return this.#within(this.#uint32())
    throw wrong('an array', code)
  }

  /** A member is a name and a value, so at least two bytes. */
  #mapLength(code: number): number {
    const length = code < 0x90 ? code & 0x0f : code === 0xde ? this.#uint16() : this.#uint32()
    this.#within(length * 2)
    return length
  }

  #text(code: number): string {
    const length = this.#textLength(code)
    if (length > PACK_STRING_BYTES_MAX) throw new ProtocolError('a string is too long')
    this.#within(length)
    const start = this.#at
    this.#at += length
    const known = cache.read(this.#view, start, length)
    if (known !== undefined) return known
    try {
      return decoder.decode(this.#bytes.subarray(start, start + length))
    } catch {
      throw new ProtocolError('a string is not UTF-8')
    }
  }

  #textLength(code: number): number {
    if (code >= 0xa0 && code < 0xc0) return code & 0x1f
    if (code === 0xd9) return this.#byte()
    if (code === 0xda) return this.#uint16()
    if (code === 0xdb) return this.#uint32()
    throw wrong('a string', code)
  }

  #longNumber(code: number): number {
    if (code >= 0xe0) return code - 256
    if (code === 0xcc) return this.#byte()
    if (code === 0xcd) return this.#uint16()
    if (code === 0xce) return this.#uint32()
    const at = this.#at
    if (code === 0xcb) {
      this.#skip(8)
      return this.#view.getFloat64(at)
    }
    if (code === 0xcf) {
      this.#skip(8)
      return safe(this.#view.getUint32(at) * TWO_TO_32 + this.#view.getUint32(at + 4))
    }
    if (code === 0xd0) {
      this.#skip(1)
      return this.#view.getInt8(at)
    }
    if (code === 0xd1) {
      this.#skip(2)
      return this.#view.getInt16(at)
    }
    if (code === 0xd2) {
      this.#skip(4)
      return this.#view.getInt32(at)
    }
    if (code !== 0xd3) throw wrong('a number', code)
    this.#skip(8)
    return safe(this.#view.getInt32(at) * TWO_TO_32 + this.#view.getUint32(at + 4))
  }

  #byte(): number {
    if (this.#at >= this.#end) throw cutOff()
    return this.#bytes[this.#at++] as number
  }

  #uint16(): number {
    const at = this.#at
    this.#skip(2)
    return this.#view.getUint16(at)
  }

  #uint32(): number {
    const at = this.#at
    this.#skip(4)
    return this.#view.getUint32(at)
  }

  #skip(count: number): void {
    if (this.#end - this.#at < count) throw cutOff()
    this.#at += count
  }

  /** Every member takes a byte at least, so a length beyond the frame is a lie. */
  #within(length: number): number {
    if (this.#end - this.#at < length) throw cutOff()
    return length
  }
}

function safe(value: number): number {
  if (!Number.isSafeInteger(value)) throw new ProtocolError('a number is too large')
  return value
}

function cutOff(): ProtocolError {
  return new ProtocolError('the frame ends in the middle of a message')
}

function wrong(expected: string, code: number): ProtocolError {
  return new ProtocolError(`expected ${expected}, found the code 0x${code.toString(16)}`)
}

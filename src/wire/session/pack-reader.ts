import { ProtocolError } from './protocol-error.ts'

const TWO_TO_32 = 2 ** 32

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads what a `PackWriter` writes, and every other form in which MessagePack can say the same. For all
 * bytes it returns a value or throws a `ProtocolError`: it never reads beyond the frame and never
 * believes a length that the frame does not have. Text that is not UTF-8 is refused and not repaired,
 * because two keys must not become one.
 */
export class PackReader {
  readonly #bytes: Buffer
  readonly #view: DataView
  readonly #end: number
  #at = 0

  constructor({ buffer, byteOffset, length }: Uint8Array) {
    this.#bytes = Buffer.from(buffer, byteOffset, length)
    this.#view = new DataView(buffer, byteOffset, length)
    this.#end = length
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end
  }

  /** The head of an array. Every member takes a byte at least. */
  array(): number {
    const code = this.#byte()
    if (code >= 0x90 && code < 0xa0) return this.#within(code & 0x0f)
    if (code === 0xdc) return this.#within(this.#unsigned(2))
    if (code === 0xdd) return this.#within(this.#unsigned(4))
    throw wrong('an array', code)
  }

  /** True, and read, if nil comes next. */
  nil(): boolean {
    if (this.#bytes[this.#at] !== 0xc0) return false
    this.#at += 1
    return true
  }

  bool(): boolean {
    const code = this.#byte()
    if (code === 0xc3) return true
    if (code === 0xc2) return false
    throw wrong('a boolean', code)
  }

  number(): number {
    const code = this.#byte()
    if (code < 0x80) return code
    if (code >= 0xe0) return code - 0x100
    switch (code) {
      case 0xca:
        return this.#view.getFloat32(this.#take(4))
      case 0xcb:
        return this.#view.getFloat64(this.#take(8))
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#unsigned(1 << (code - 0xcc))
      case 0xcf:
        return safe(this.#unsigned(4) * TWO_TO_32 + this.#unsigned(4))
      case 0xd0:
        return this.#view.getInt8(this.#take(1))
      case 0xd1:
        return this.#view.getInt16(this.#take(2))
      case 0xd2:
        return this.#view.getInt32(this.#take(4))
      case 0xd3:
        return safe(this.#view.getInt32(this.#take(4)) * TWO_TO_32 + this.#unsigned(4))
      default:
        throw wrong('a number', code)
    }
  }

  text(): string {
    const length = this.#textLength(this.#byte())
    const start = this.#take(length)
    const end = this.#at
    const bytes = this.#bytes
    for (let at = start; at < end; at += 1) {
      if ((bytes[at] as number) > 127) return decode(bytes.subarray(start, end))
    }
    return bytes.toString('latin1', start, end)
  }

  /** Over one value that this version does not know: text, a number, a boolean or nil. */
  skip(): void {
    const code = this.#bytes[this.#at]
    if (this.nil()) return
    if (code === 0xc2 || code === 0xc3) this.#take(1)
    else if (code !== undefined && isTextHead(code)) this.text()
    else this.number()
  }

  #textLength(code: number): number {
    if (code >= 0xa0 && code < 0xc0) return code & 0x1f
    if (code >= 0xd9 && code <= 0xdb) return this.#unsigned(1 << (code - 0xd9))
    throw wrong('a text', code)
  }

  #byte(): number {
    return this.#bytes[this.#take(1)] as number
  }

  #unsigned(bytes: number): number {
    const at = this.#take(bytes)
    if (bytes === 1) return this.#bytes[at] as number
    return bytes === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at)
  }

  /** Where the next bytes begin; they are read. */
  #take(count: number): number {
    const at = this.#at
    this.#at += this.#within(count)
    return at
  }

  #within(length: number): number {
    if (this.#end - this.#at >= length) return length
    throw new ProtocolError('the frame ends in the middle of a message')
  }
}

function isTextHead(code: number): boolean {
  return (code >= 0xa0 && code < 0xc0) || (code >= 0xd9 && code <= 0xdb)
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new ProtocolError('a text is not UTF-8')
  }
}

function safe(value: number): number {
  if (Number.isSafeInteger(value)) return value
  throw new ProtocolError('a number is too large')
}

function wrong(expected: string, code: number): ProtocolError {
  return new ProtocolError(`expected ${expected}, found the code 0x${code.toString(16)}`)
}

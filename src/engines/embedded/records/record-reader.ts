import { assert } from '../../../law/assert.ts'

/** Reads what `RecordWriter` wrote. */
export class RecordReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  byte(): number {
    const value = this.#bytes[this.#at]
    assert(value !== undefined, 'a journal record ends too early')
    this.#at += 1
    return value
  }

  number(): number {
    let value = 0
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }

  text(): string {
    const length = this.byte() + this.byte() * 0x100
    const end = this.#at + length
    assert(end <= this.#bytes.length, 'a journal record ends too early')
    const value = this.#bytes.toString('utf8', this.#at, end)
    this.#at = end
    return value
  }

  optional(): string | undefined {
    return this.byte() === 0 ? undefined : this.text()
  }
}

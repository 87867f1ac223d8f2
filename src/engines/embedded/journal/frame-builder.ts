import { FRAME_HEADER_BYTES, RECORD_HEADER_BYTES, writeFrameHeader } from './frame.ts'
import { MAX_RECORD_BYTES } from './journal-limits.ts'
import { RunningChecksum } from './running-checksum.ts'

export interface FrameBuilderOptions {
  readonly number: number
  readonly salt: number
  /** Where the frame is built; its content is overwritten. It is replaced when it is too small. */
  readonly buffer: Buffer
}

/** Builds one frame in place, record by record, and puts the header in front when it is sealed. */
export class FrameBuilder {
  readonly number: number
  readonly #salt: number
  readonly #checksum: RunningChecksum
  #buffer: Buffer
  #end = FRAME_HEADER_BYTES
  #count = 0

  constructor(options: FrameBuilderOptions) {
    this.number = options.number
    this.#salt = options.salt
    this.#checksum = new RunningChecksum(options.salt)
    this.#buffer = options.buffer
  }

  /** The length of the frame so far, with its header. */
  get byteLength(): number {
    return this.#end
  }

  get count(): number {
    return this.#count
  }

  /** The buffer in use, to be given to the next builder when the sealed frame has been written. */
  get buffer(): Buffer {
    return this.#buffer
  }

  /** Adds a record that `assertRecordFits` has let pass. */
  add(record: Uint8Array): void {
    const at = this.#end
    const end = at + RECORD_HEADER_BYTES + record.length
    if (end > this.#buffer.length) this.#grow(end)
    const buffer = this.#buffer
    writeNumber(buffer, at + 4, record.length)
    buffer.set(record, at + RECORD_HEADER_BYTES)
    writeNumber(buffer, at, this.#checksum.update(buffer, at + 4, end))
    this.#end = end
    this.#count++
  }

  /** The finished frame, a view of the buffer. Nothing may be added afterwards. */
  seal(): Buffer {
    const header = {
      number: this.number,
      recordsBytes: this.#end - FRAME_HEADER_BYTES,
      count: this.#count,
      lastChecksum: this.#checksum.value,
    }
    writeFrameHeader(this.#buffer, header, this.#salt)
    return this.#buffer.subarray(0, this.#end)
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2))
    this.#buffer.copy(larger, 0, 0, this.#end)
    this.#buffer = larger
  }
}

/** As `writeUInt32LE`, whose checks cost more than the rest of a record's header. */
function writeNumber(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value & 0xff
  bytes[at + 1] = (value >>> 8) & 0xff
  bytes[at + 2] = (value >>> 16) & 0xff
  bytes[at + 3] = value >>> 24
}

/** The length of a longer record, or of a batch with it, could not be written down. */
export function assertRecordFits(record: Uint8Array): void {
  if (record.length > MAX_RECORD_BYTES) {
    throw new RangeError(`a record of ${record.length} bytes exceeds ${MAX_RECORD_BYTES}`)
  }
}

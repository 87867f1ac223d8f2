import type { DiskFile } from './disk.ts'
import { FRAME_HEADER_BYTES, FRAME_MARKER, tryReadFrameHeader, tryReadRecords } from './frame.ts'
import { READ_WINDOW_BYTES } from './journal-limits.ts'

/** A frame that was read and verified. Its records are valid until the next call of the reader. */
export interface Frame {
  readonly number: number
  readonly records: readonly Uint8Array[]
  /** Where the frame ends in the file, and the next one begins. */
  readonly end: number
}

/**
 * Reads a file of the journal through a window, so that memory does not grow with the file. An
 * error of the disk is thrown and never taken for the end of the file.
 */
export class FrameReader {
  readonly size: number
  readonly #file: DiskFile
  #window: Buffer = Buffer.alloc(0)
  #windowStart = 0

  constructor(file: DiskFile, size: number) {
    this.#file = file
    this.size = size
  }

  /** The bytes at `position`, fewer than asked for only at the end of the file. */
  async bytes(position: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.size - position))
    const start = position - this.#windowStart
    if (start < 0 || start + wanted > this.#window.length) {
      await this.#load(position, wanted)
      return this.#window.subarray(0, wanted)
    }
    return this.#window.subarray(start, start + wanted)
  }

  /** The frame that begins at `offset`, or null when no whole and valid one does. */
  async tryReadFrame(offset: number, salt: number): Promise<Frame | null> {
    const header = tryReadFrameHeader(await this.bytes(offset, FRAME_HEADER_BYTES), salt)
    if (header === null) return null
    const start = offset + FRAME_HEADER_BYTES
    const body = await this.bytes(start, header.recordsBytes)
    if (body.length < header.recordsBytes) return null
    const records = tryReadRecords(body, header, salt)
    if (records === null) return null
    return { number: header.number, records, end: start + header.recordsBytes }
  }

  /** Whether a valid frame begins anywhere from `offset` on. */
  async hasFrameFrom(offset: number, salt: number): Promise<boolean> {
    let at = await this.#findMarker(offset)
    while (at !== null) {
      if ((await this.tryReadFrame(at, salt)) !== null) return true
      at = await this.#findMarker(at + 1)
    }
    return false
  }

  /** Whether nothing but zeros lies from `offset` to the end of the file. */
  async isZeroFrom(offset: number): Promise<boolean> {
    const zeros = Buffer.alloc(Math.max(0, Math.min(READ_WINDOW_BYTES, this.size - offset)))
    for (let at = offset; at < this.size; at += READ_WINDOW_BYTES) {
      const piece = await this.bytes(at, READ_WINDOW_BYTES)
      if (!piece.equals(zeros.subarray(0, piece.length))) return false
    }
    return true
  }

  async #findMarker(offset: number): Promise<number | null> {
    const overlap = FRAME_MARKER.length - 1
    for (let at = offset; at < this.size; at += READ_WINDOW_BYTES - overlap) {
      const found = (await this.bytes(at, READ_WINDOW_BYTES)).indexOf(FRAME_MARKER)
      if (found !== -1) return at + found
    }
    return null
  }

  async #load(position: number, atLeast: number): Promise<void> {
    const length = Math.min(Math.max(atLeast, READ_WINDOW_BYTES), this.size - position)
    const window = Buffer.allocUnsafeSlow(length)
    const read = await this.#file.read(window, position)
    if (read < length) throw new Error(`only ${read} of ${length} bytes at ${position} can be read`)
    this.#window = window
    this.#windowStart = position
  }
}

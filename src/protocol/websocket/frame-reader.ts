import {
  CONTROL_BYTES_MAX,
  FRAME_CLOSE_CODES,
  FrameError,
  isCloseCode,
  OPCODES,
} from './frame-format.ts'
import { applyMask } from './mask.ts'

const FINAL = 0x80
const RESERVED = 0x70
const CONTROL = 0x08
const MASKED = 0x80
const MASK_BYTES = 4

const decoder = new TextDecoder('utf-8', { fatal: true })

export interface FrameReaderOptions {
  /** Those of a client are masked, those of a server are not, and neither may be otherwise. */
  readonly isMasked: boolean
  /** Of a message, in however many frames it comes. */
  readonly messageBytesMax: number
  readonly handler: FrameReaderHandler
}

export interface FrameReaderHandler {
  /** The bytes are the receiver's for the length of the call. */
  onMessage(bytes: Buffer, isBinary: boolean): void
  onPing(payload: Buffer): void
  /** Nothing that comes after it is read. A close without a code is 1005. */
  onCloseFrame(code: number, reason: string): void
}

/**
 * Takes the frames out of what arrives, however it is cut into pieces. Throws a `FrameError` at the first
 * byte that RFC 6455 does not allow, and before anything is kept of a message that is too long.
 */
export class FrameReader {
  readonly #options: FrameReaderOptions
  readonly #handler: FrameReaderHandler
  /** The beginning of a frame that is not there as a whole, and how many bytes it needs. */
  #pieces: Buffer[] = []
  #pieceBytes = 0
  #neededBytes = 0
  /** Of the frame that was looked at last. */
  #headBytes = 0
  /** The beginning of a message that comes in several frames. */
  #fragments: Buffer[] | undefined
  #fragmentBytes = 0
  #isBinary = false
  #isClosed = false

  constructor(options: FrameReaderOptions) {
    this.#options = options
    this.#handler = options.handler
  }

  read(arrived: Buffer): void {
    const bytes = this.#pieceBytes === 0 ? arrived : this.#join(arrived)
    if (bytes === undefined) return
    let at = 0
    while (at < bytes.length && !this.#isClosed) {
      const size = this.#sizeAt(bytes, at)
      if (size > bytes.length - at) return this.#keep(bytes.subarray(at), size)
      this.#take(bytes, at, size)
      at += size
    }
  }

  /** Joined once, when the frame is whole, and not with every piece of it. */
  #join(arrived: Buffer): Buffer | undefined {
    this.#pieces.push(arrived)
    this.#pieceBytes += arrived.length
    if (this.#pieceBytes < this.#neededBytes) return undefined
    const bytes = Buffer.concat(this.#pieces, this.#pieceBytes)
    this.#pieces = []
    this.#pieceBytes = 0
    return bytes
  }

  #keep(piece: Buffer, neededBytes: number): void {
    this.#pieces.push(piece)
    this.#pieceBytes = piece.length
    this.#neededBytes = neededBytes
  }

  /** How many bytes the frame has, or how many are needed to know that. */
  #sizeAt(bytes: Buffer, at: number): number {
    const { isMasked } = this.#options
    const left = bytes.length - at
    if (left < 2) return 2
    const first = bytes[at] as number
    const second = bytes[at + 1] as number
    const short = second & 0x7f
    if ((second & MASKED) !== (isMasked ? MASKED : 0)) {
      throw malformed(isMasked ? 'a frame is not masked' : 'a frame is masked')
    }
    this.#check(first, short)
    const lengthBytes = short < 126 ? 0 : short === 126 ? 2 : 8
    const headBytes = 2 + lengthBytes + (isMasked ? MASK_BYTES : 0)
    if (left < headBytes) return headBytes
    const length = lengthBytes === 0 ? short : longLength(bytes, at + 2, lengthBytes)
    if (length + this.#fragmentBytes > this.#options.messageBytesMax) {
      throw new FrameError(FRAME_CLOSE_CODES.tooLong, 'a message is too long')
    }
    this.#headBytes = headBytes
    return headBytes + length
  }

  #check(first: number, length: number): void {
    if ((first & RESERVED) !== 0) throw malformed('no extension was agreed on')
    const opcode = first & 0x0f
    if ((opcode & CONTROL) !== 0) {
      if (opcode > OPCODES.pong) throw malformed(`there is no opcode ${opcode}`)
      if ((first & FINAL) === 0) throw malformed('a control frame is in pieces')
      if (length > CONTROL_BYTES_MAX) throw malformed('a control frame is too long')
    } else if (opcode > OPCODES.binary) {
      throw malformed(`there is no opcode ${opcode}`)
    } else if ((opcode === OPCODES.continuation) !== (this.#fragments !== undefined)) {
      throw malformed('a message begins inside another one, or has no beginning')
    }
  }

  #take(bytes: Buffer, at: number, size: number): void {
    const payload = bytes.subarray(at + this.#headBytes, at + size)
    if (this.#options.isMasked) {
      const keyAt = at + this.#headBytes - MASK_BYTES
      applyMask(payload, bytes.subarray(keyAt, keyAt + MASK_BYTES))
    }
    const first = bytes[at] as number
    const opcode = first & 0x0f
    if (opcode >= CONTROL) return this.#control(opcode, payload)
    if (opcode !== OPCODES.continuation) this.#isBinary = opcode === OPCODES.binary
    const isFinal = (first & FINAL) !== 0
    if (isFinal && this.#fragments === undefined) {
      return this.#handler.onMessage(payload, this.#isBinary)
    }
    // What arrives has memory of its own, so a piece of it may be kept.
    this.#fragments ??= []
    this.#fragments.push(payload)
    this.#fragmentBytes += size
    if (!isFinal) return
    const whole = Buffer.concat(this.#fragments)
    this.#fragments = undefined
    this.#fragmentBytes = 0
    this.#handler.onMessage(whole, this.#isBinary)
  }

  #control(opcode: number, payload: Buffer): void {
    if (opcode === OPCODES.ping) return this.#handler.onPing(payload)
    if (opcode !== OPCODES.close) return
    this.#isClosed = true
    if (payload.length === 0) return this.#handler.onCloseFrame(FRAME_CLOSE_CODES.none, '')
    const code = payload.length < 2 ? 0 : payload.readUInt16BE(0)
    if (!isCloseCode(code)) throw malformed('a close has no code that may be said')
    this.#handler.onCloseFrame(code, readReason(payload.subarray(2)))
  }
}

function longLength(bytes: Buffer, at: number, lengthBytes: number): number {
  if (lengthBytes === 2) return bytes.readUInt16BE(at)
  // Whatever has more than the lower half is too long for anyone, and exact enough to be seen as that.
  return bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4)
}

function readReason(bytes: Buffer): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new FrameError(FRAME_CLOSE_CODES.notText, 'the reason of a close is not UTF-8')
  }
}

function malformed(message: string): FrameError {
  return new FrameError(FRAME_CLOSE_CODES.malformed, message)
}

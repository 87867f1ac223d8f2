import type { Socket } from 'node:net'
import { FRAME_CLOSE_CODES, FrameError, OPCODES } from './frame-format.ts'
import { FrameReader, type FrameReaderHandler } from './frame-reader.ts'
import { createFrame, sealFrame } from './frame-writer.ts'

const REASON_BYTES_MAX = 123

export interface FrameSocketOptions {
  /** Upgraded: nothing but frames is on it from now on. */
  readonly socket: Socket
  /** What was read of them together with the upgrade. */
  readonly head: Buffer
  /** A client masks what it sends, and what it gets is not masked; a server the other way round. */
  readonly side: 'client' | 'server'
  readonly messageBytesMax: number
  readonly events: FrameSocketEvents
}

export interface FrameSocketEvents {
  /** The bytes are the receiver's for the length of the call. */
  onMessage(bytes: Buffer, isBinary: boolean): void
  /** Everything that had arrived was passed on. */
  onRead(): void
  /** After something could not be sent at once: now it was. */
  onDrained(): void
  /** The other side does not keep to RFC 6455. Nothing more is read; close it or cut it. */
  onMalformed(error: FrameError): void
  /** Once, at the end, with what the other side said or 1006. */
  onClosed(code: number, reason: string): void
}

/**
 * One end of a WebSocket without extensions, on a socket that was upgraded. Frames are read where they
 * arrived and sent in one write each; there is no stream and no queue in between but the socket's own.
 */
export class FrameSocket implements FrameReaderHandler {
  readonly #socket: Socket
  readonly #events: FrameSocketEvents
  readonly #isClient: boolean
  readonly #reader: FrameReader
  #isCloseSent = false
  #isDeaf = false
  #closeCode: number = FRAME_CLOSE_CODES.cutOff
  #closeReason = ''

  constructor({ socket, head, side, messageBytesMax, events }: FrameSocketOptions) {
    this.#socket = socket
    this.#events = events
    this.#isClient = side === 'client'
    this.#reader = new FrameReader({ isMasked: !this.#isClient, messageBytesMax, handler: this })
    socket.setTimeout(0)
    socket.setNoDelay(true)
    if (head.length > 0) socket.unshift(head)
    socket.on('data', (bytes: Buffer) => this.#onData(bytes))
    socket.on('drain', () => events.onDrained())
    // Whoever will not say anything more cannot say a close either.
    socket.on('end', () => socket.destroySoon())
    // An error is followed by the close, which says the rest.
    socket.on('error', () => {})
    socket.on('close', () => events.onClosed(this.#closeCode, this.#closeReason))
  }

  /** Whether something may still be sent. */
  get isOpen(): boolean {
    return !this.#isCloseSent && this.#socket.writable
  }

  /** Bytes that have been sent and not yet taken by the system. */
  get unsentBytes(): number {
    return this.#socket.writableLength
  }

  /**
   * Sends a binary message. It begins with `HEAD_ROOM` bytes that mean nothing, and belongs to the socket
   * from now on; a server may send the same once more.
   */
  send(roomy: Buffer): void {
    if (this.isOpen) this.#socket.write(sealFrame(roomy, OPCODES.binary, this.#isClient))
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Whether the open connection keeps the process alive. */
  keepAlive(isWanted: boolean): void {
    if (isWanted) this.#socket.ref()
    else this.#socket.unref()
  }

  /** Ends when the other side has said so too; somebody else has to see to it that it does. */
  close(code: number, reason = ''): void {
    if (!this.isOpen) return
    const said = Buffer.from(reason).subarray(0, REASON_BYTES_MAX)
    this.#sayClose(Buffer.concat([Buffer.from([code >> 8, code & 0xff]), said]))
    if (this.#isDeaf) this.#socket.end()
  }

  /** At once, and whatever was not sent is not. */
  terminate(): void {
    this.#isDeaf = true
    this.#socket.destroy()
  }

  onMessage(bytes: Buffer, isBinary: boolean): void {
    if (!this.#isDeaf) this.#events.onMessage(bytes, isBinary)
  }

  onPing(payload: Buffer): void {
    if (this.isOpen) this.#socket.write(createFrame(payload, OPCODES.pong, this.#isClient))
  }

  onCloseFrame(code: number, reason: string): void {
    this.#closeCode = code
    this.#closeReason = reason
    const isSilent = code === FRAME_CLOSE_CODES.none
    this.#sayClose(isSilent ? Buffer.alloc(0) : Buffer.from([code >> 8, code & 0xff]))
    // Whoever closes without having read what was sent does not want it.
    if (this.#socket.writableLength === 0) this.#socket.destroySoon()
    else this.#socket.destroy()
  }

  #sayClose(payload: Buffer): void {
    if (!this.isOpen) return
    this.#isCloseSent = true
    this.#socket.write(createFrame(payload, OPCODES.close, this.#isClient))
  }

  #onData(bytes: Buffer): void {
    if (this.#isDeaf) return
    try {
      this.#reader.read(bytes)
    } catch (error) {
      this.#isDeaf = true
      if (!(error instanceof FrameError)) throw error
      this.#events.onMalformed(error)
    }
    this.#events.onRead()
  }
}

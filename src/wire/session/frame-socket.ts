import type { WebSocket } from 'ws'
import { CLOSE_CODES } from './session-limits.ts'

/** Bytes that the socket has not taken: above this pings are not answered. */
const PONG_BYTES_MAX = 16 * 1024

/** What both ends of a session need of a WebSocket. */
export interface FrameSocket {
  readonly isOpen: boolean
  /** Bytes that were sent and that the system has not taken, control frames included. */
  readonly unsentBytes: number
  /** The frame is the socket's from now on. `onSent` is called when the system has taken it. */
  send(frame: Buffer, onSent?: () => void): void
  close(code: number, reason: string): void
  /** Cut it, without a word. */
  terminate(): void
  /** Read nothing until `resume`. */
  pause(): void
  resume(): void
}

export interface FrameSocketEvents {
  /** The bytes are the receiver's for the length of the call. */
  onFrame(frame: Buffer): void
  /** Once. The code is 1006 where the connection was cut. */
  onClosed(code: number, reason: string): void
}

/** A WebSocket of the library. Errors are said by the close that follows them. */
export function toFrameSocket(socket: WebSocket, events: FrameSocketEvents): FrameSocket {
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) events.onFrame(data)
    else socket.close(CLOSE_CODES.protocol, 'a session speaks in binary frames')
  })
  // A pong waits in memory like everything else, so a client that does not read gets none.
  socket.on('ping', (data) => {
    if (socket.bufferedAmount < PONG_BYTES_MAX) socket.pong(data)
  })
  socket.on('close', (code, reason) => events.onClosed(code, reason.toString()))
  socket.on('error', () => {})
  return {
    get isOpen() {
      return socket.readyState === socket.OPEN
    },
    get unsentBytes() {
      return socket.bufferedAmount
    },
    send: (frame, onSent) => socket.send(frame, onSent),
    close: (code, reason) => socket.close(code, reason),
    terminate: () => socket.terminate(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
  }
}

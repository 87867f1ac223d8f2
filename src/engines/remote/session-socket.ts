import type { Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { WebSocket } from 'ws'
import {
  type FrameSocket,
  type FrameSocketEvents,
  toFrameSocket,
} from '../../wire/session/frame-socket.ts'
import { SERVER_FRAME_BYTES_MAX } from '../../wire/session/session-limits.ts'
import { explainHangUp } from '../../wire/tls-failure.ts'
import { toTlsError } from './remote-errors.ts'
import { HANDSHAKE_MS_MAX } from './session-limits.ts'

/** Where a server is, and how to get in. */
export interface ServerAddress {
  /** As `http:` or `https:`. */
  readonly url: URL
  /** Sent as a bearer token. */
  readonly token: string | undefined
  /** Which authorities to trust over TLS, and which certificate to show. */
  readonly tls?: SecureContextOptions | undefined
}

export interface SocketEnd {
  /** The WebSocket's close code, or 1006 where it was cut off. */
  readonly code: number
  readonly reason: string
  /** The HTTP status, if the upgrade was refused with one. */
  readonly status?: number | undefined
  readonly cause?: unknown
}

export interface SessionSocketEvents {
  onOpen(): void
  /** The bytes are the receiver's for the length of the call. */
  onFrame(frame: Buffer): void
  /** Once, at the end of every socket, however far it came. */
  onClosed(end: SocketEnd): void
}

export interface SessionSocket extends FrameSocket {
  /** Whether the open connection keeps the process alive. */
  keepAlive(isWanted: boolean): void
}

export type OpenSocket = (address: ServerAddress, events: SessionSocketEvents) => SessionSocket

/** One WebSocket to a server. */
export const openSessionSocket: OpenSocket = ({ url, token, tls }, events) => {
  let status: number | undefined
  let cause: unknown
  let tcp: Socket | undefined
  let keepsAlive = true
  const socket = new WebSocket(toAddress(url), {
    ...tls,
    perMessageDeflate: false,
    autoPong: false,
    handshakeTimeout: HANDSHAKE_MS_MAX,
    maxPayload: SERVER_FRAME_BYTES_MAX,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  })
  const keepAlive = (isWanted: boolean): void => {
    keepsAlive = isWanted
    if (isWanted) tcp?.ref()
    else tcp?.unref()
  }
  const frames: FrameSocketEvents = {
    onFrame: (frame) => events.onFrame(frame),
    onClosed: (code, reason) => events.onClosed({ code, reason, status, cause }),
  }
  const opened = toFrameSocket(socket, frames)
  socket.on('error', (error) => {
    cause ??= toTlsError(error) ?? explainHangUp(error, tls)
  })
  socket.on('unexpected-response', (_, response) => {
    status = response.statusCode
    socket.terminate()
  })
  socket.on('upgrade', ({ socket: raw }) => {
    tcp = raw
    keepAlive(keepsAlive)
  })
  socket.on('open', () => events.onOpen())
  return Object.assign(opened, { keepAlive })
}

function toAddress(url: URL): URL {
  const address = new URL(url)
  address.pathname = `${url.pathname.replace(/\/$/, '')}/v1/session`
  return address
}

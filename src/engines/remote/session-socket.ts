import type { SecureContextOptions } from 'node:tls'
import { WebSocket } from 'ws'
import { type FrameSocket, toFrameSocket } from '../../wire/session/frame-socket.ts'
import { SERVER_FRAME_BYTES_MAX } from '../../wire/session/session-limits.ts'
import { describeTlsFailure, explainHangUp } from '../../wire/tls-failure.ts'
import { createError, type LockError } from '../../engine/errors/errors.ts'
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
  readonly onOpen: () => void
  /** The bytes are the receiver's for the length of the call. */
  readonly onFrame: (frame: Buffer) => void
  /** Once, at the end of every socket, however far it came. */
  readonly onClosed: (end: SocketEnd) => void
}

export type OpenSocket = (address: ServerAddress, events: SessionSocketEvents) => FrameSocket

/** One WebSocket to a server. Once it is connected, it does not keep the process alive. */
export const openSessionSocket: OpenSocket = ({ url, token, tls }, events) => {
  let status: number | undefined
  let cause: unknown
  const socket = new WebSocket(toAddress(url), {
    ...tls,
    perMessageDeflate: false,
    autoPong: false,
    handshakeTimeout: HANDSHAKE_MS_MAX,
    maxPayload: SERVER_FRAME_BYTES_MAX,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  })
  const opened = toFrameSocket(socket, {
    onFrame: events.onFrame,
    onClosed: (code, reason) => events.onClosed({ code, reason, status, cause }),
  })
  socket.on('error', (error) => {
    cause ??= toTlsError(error) ?? explainHangUp(error, tls)
  })
  socket.on('unexpected-response', (_, response) => {
    status = response.statusCode
    socket.terminate()
  })
  socket.on('upgrade', ({ socket: tcp }) => tcp.unref())
  socket.on('open', () => events.onOpen())
  return opened
}

/** What trying again does not change: the two ends do not trust each other. */
function toTlsError(cause: unknown): LockError | undefined {
  const refusal = describeTlsFailure(cause)
  return refusal && createError(refusal.code, refusal.message, { cause })
}

function toAddress(url: URL): URL {
  const address = new URL(url)
  address.pathname = `${url.pathname.replace(/\/$/, '')}/v1/session`
  return address
}

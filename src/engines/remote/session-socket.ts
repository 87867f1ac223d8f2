import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import { SERVER_FRAME_BYTES_MAX } from '../../protocol/session/session-limits.ts'
import { HANDSHAKE_MS_MAX } from './session-limits.ts'

export interface SessionSocketOptions {
  /** Of the server, as `http:` or `https:`. */
  readonly url: URL
  readonly token: string | undefined
}

export interface SessionSocketEvents {
  readonly onOpen: () => void
  readonly onFrame: (frame: Uint8Array) => void
  /** Once, at the end of every socket, however far it came. */
  readonly onClosed: (end: SocketEnd) => void
}

export interface SocketEnd {
  /** The WebSocket's close code, or 1006 where it was cut off. */
  readonly code: number
  readonly reason: string
  /** The HTTP status, if the upgrade was refused with one. */
  readonly status: number | undefined
  readonly cause: unknown
}

const BINARY = { binary: true, compress: false } as const

/** One WebSocket to a server. */
export class SessionSocket {
  readonly #webSocket: WebSocket
  #socket: Socket | undefined
  #keepsAlive = true
  #status: number | undefined
  #cause: unknown

  constructor(options: SessionSocketOptions, events: SessionSocketEvents) {
    const { token } = options
    const webSocket = new WebSocket(toAddress(options.url), {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
      maxPayload: SERVER_FRAME_BYTES_MAX,
      handshakeTimeout: HANDSHAKE_MS_MAX,
      followRedirects: false,
    })
    this.#webSocket = webSocket
    webSocket.on('upgrade', (response: IncomingMessage) => {
      this.#socket = response.socket
      this.keepAlive(this.#keepsAlive)
    })
    webSocket.on('unexpected-response', (_, response: IncomingMessage) => {
      this.#status = response.statusCode
      webSocket.terminate()
    })
    webSocket.on('error', (error) => {
      this.#cause ??= error
    })
    webSocket.on('open', events.onOpen)
    webSocket.on('message', (data: Buffer) => events.onFrame(data))
    webSocket.on('close', (code, reason) =>
      events.onClosed({
        code,
        reason: reason.toString(),
        status: this.#status,
        cause: this.#cause,
      }),
    )
  }

  /** Bytes that have been sent and not yet taken by the system. */
  get unsentBytes(): number {
    return this.#webSocket.bufferedAmount
  }

  /** Whether the open connection keeps the process alive. */
  keepAlive(isWanted: boolean): void {
    this.#keepsAlive = isWanted
    if (isWanted) this.#socket?.ref()
    else this.#socket?.unref()
  }

  send(frame: Uint8Array, onSent?: () => void): void {
    this.#webSocket.send(frame, BINARY, onSent)
  }

  close(): void {
    this.#webSocket.close(1000)
  }

  terminate(): void {
    this.#webSocket.terminate()
  }
}

function toAddress(url: URL): URL {
  const address = new URL(url)
  address.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  address.pathname = `${url.pathname.replace(/\/$/, '')}/v1/session`
  address.search = ''
  address.hash = ''
  return address
}

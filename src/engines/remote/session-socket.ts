import { randomBytes } from 'node:crypto'
import { type ClientRequest, request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { SERVER_FRAME_BYTES_MAX } from '../../protocol/session/session-limits.ts'
import { FRAME_CLOSE_CODES } from '../../protocol/websocket/frame-format.ts'
import { FrameSocket } from '../../protocol/websocket/frame-socket.ts'
import { acceptKey, WEBSOCKET_VERSION } from '../../protocol/websocket/handshake.ts'
import { explainHangUp } from '../../protocol/tls-failure.ts'
import { toTlsError } from './remote-errors.ts'
import { HANDSHAKE_MS_MAX } from './session-limits.ts'

export interface SessionSocketOptions {
  /** Of the server, as `http:` or `https:`. */
  readonly url: URL
  readonly token: string | undefined
  readonly tls?: SecureContextOptions | undefined
}

export interface SessionSocketEvents {
  readonly onOpen: () => void
  /** The bytes are the receiver's for the length of the call. */
  readonly onFrame: (frame: Buffer) => void
  /** After something could not be sent at once: now it was. */
  readonly onDrained?: () => void
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

const KEY_BYTES = 16

/** One WebSocket to a server. */
export class SessionSocket {
  readonly #events: SessionSocketEvents
  readonly #request: ClientRequest
  readonly #key = randomBytes(KEY_BYTES).toString('base64')
  #socket: FrameSocket | undefined
  #keepsAlive = true
  #status: number | undefined
  #cause: unknown
  #isOver = false

  constructor(options: SessionSocketOptions, events: SessionSocketEvents) {
    this.#events = events
    const request = askForUpgrade(options, this.#key)
    this.#request = request
    request.on('upgrade', (response, socket: Socket, head) => {
      this.#onUpgrade(response, socket, head)
    })
    request.on('response', ({ statusCode }) => {
      this.#status = statusCode
      request.destroy()
    })
    request.on('timeout', () => request.destroy(new Error('the handshake takes too long')))
    request.on('error', (error) => {
      this.#cause ??= toTlsError(error) ?? explainHangUp(error, options.tls)
    })
    request.on('close', () => {
      if (this.#socket === undefined) this.#end(FRAME_CLOSE_CODES.cutOff, '')
    })
    request.end()
  }

  /** Bytes that have been sent and not yet taken by the system. */
  get unsentBytes(): number {
    return this.#socket?.unsentBytes ?? 0
  }

  /** Whether the open connection keeps the process alive. */
  keepAlive(isWanted: boolean): void {
    this.#keepsAlive = isWanted
    this.#socket?.keepAlive(isWanted)
  }

  /** It begins with `HEAD_ROOM` bytes that mean nothing, and is the socket's from now on. */
  send(frame: Buffer): void {
    this.#socket?.send(frame)
  }

  terminate(): void {
    if (this.#socket === undefined) this.#request.destroy()
    else this.#socket.terminate()
  }

  #onUpgrade({ headers }: IncomingMessage, socket: Socket, head: Buffer): void {
    const isOurs = headers['sec-websocket-accept'] === acceptKey(this.#key)
    if (!isOurs || headers['sec-websocket-extensions'] !== undefined) {
      this.#cause = new Error('what answers there is no WebSocket of a lock server')
      socket.destroy()
      this.#request.destroy()
      return
    }
    const opened = new FrameSocket({
      socket,
      head,
      side: 'client',
      messageBytesMax: SERVER_FRAME_BYTES_MAX,
      events: {
        onMessage: (bytes) => this.#events.onFrame(bytes),
        onRead: () => {},
        onDrained: () => this.#events.onDrained?.(),
        // A server that makes no sense is as good as none.
        onMalformed: () => opened.terminate(),
        onClosed: (code, reason) => this.#end(code, reason),
      },
    })
    this.#socket = opened
    opened.keepAlive(this.#keepsAlive)
    this.#events.onOpen()
  }

  #end(code: number, reason: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#events.onClosed({ code, reason, status: this.#status, cause: this.#cause })
  }
}

function askForUpgrade({ url, token, tls }: SessionSocketOptions, key: string): ClientRequest {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return request(toAddress(url), {
    ...tls,
    // A connection that becomes a WebSocket is not to be found in any pool.
    agent: false,
    timeout: HANDSHAKE_MS_MAX,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': key,
      'sec-websocket-version': WEBSOCKET_VERSION,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
  })
}

function toAddress(url: URL): URL {
  const address = new URL(url)
  address.pathname = `${url.pathname.replace(/\/$/, '')}/v1/session`
  address.search = ''
  address.hash = ''
  return address
}

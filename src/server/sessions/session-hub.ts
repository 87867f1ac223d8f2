import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { createError } from '../../engine/errors/errors.ts'
import { toFrameSocket } from '../../wire/session/frame-socket.ts'
import { CLIENT_FRAME_BYTES_MAX } from '../../wire/session/session-limits.ts'
import { toErrorAnswer } from '../http/error-answer.ts'
import { badRequest, HttpError } from '../http/http-error.ts'
import { refuseUpgrade } from '../http/refuse-upgrade.ts'
import type { Caller } from '../access/access.ts'
import type { ServerContext } from '../server-context.ts'
import { CLOSE_MS_MAX } from './connection-limits.ts'
import { SESSION_ROUTE } from './session-route.ts'
import { SessionTable } from './session-table.ts'

const SOCKET_OPTIONS = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  autoPong: false,
  maxPayload: CLIENT_FRAME_BYTES_MAX,
  closeTimeout: CLOSE_MS_MAX,
}

/** The door to the sessions of a server: who may open one, and over what. */
export class SessionHub {
  readonly #context: ServerContext
  readonly #table: SessionTable
  readonly #unlisten: () => void
  readonly #sockets = new WebSocketServer(SOCKET_OPTIONS)

  constructor(context: ServerContext) {
    this.#context = context
    this.#table = new SessionTable(context)
    this.#unlisten = context.events.listen((event) => this.#table.onEvent(event))
    this.#sockets.on('wsClientError', (error, socket, request) => {
      this.#refuse(request, socket, badRequest('upgrade', error.message))
    })
  }

  /** For the `upgrade` event of an HTTP server. Tells whether there is a WebSocket now. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    let isOpen = false
    try {
      if (this.#table.isClosed) throw createError('LOCK_ENGINE_CLOSED', 'the server stops')
      if (!isKnown(request)) throw nothingHere()
      const caller = this.#admit(request)
      this.#sockets.handleUpgrade(request, socket, head, (opened) => {
        isOpen = true
        this.#table.accept(caller, (events) => toFrameSocket(opened, events))
      })
    } catch (error) {
      this.#refuse(request, socket, error)
    }
    return isOpen
  }

  /** Resolves when every client was told. */
  async close(): Promise<void> {
    await this.#table.close()
    this.#unlisten()
  }

  #admit(request: IncomingMessage): Caller {
    const { access } = this.#context
    if (request.method !== 'GET') throw wrongMethod()
    return access.admit(request, SESSION_ROUTE)
  }

  #refuse(request: IncomingMessage, socket: Duplex, error: unknown): void {
    const answer = toErrorAnswer(error)
    this.#context.failures.report(error)
    this.#context.log.debug('session refused', { status: answer.status })
    const route = isKnown(request) ? SESSION_ROUTE : undefined
    this.#context.metrics.answered(route, answer.status)
    refuseUpgrade(request, socket, answer)
  }
}

function isKnown({ url = '' }: IncomingMessage): boolean {
  return url === SESSION_ROUTE.path || url.startsWith(`${SESSION_ROUTE.path}?`)
}

function nothingHere(): HttpError {
  const message = `sessions are opened at ${SESSION_ROUTE.path}`
  return new HttpError(404, 'not_found', { message })
}

function wrongMethod(): HttpError {
  return new HttpError(405, 'method_not_allowed', {
    message: 'a WebSocket is opened with GET',
    headers: { allow: 'GET' },
  })
}

import { randomInt } from 'node:crypto'
import { createError, type LockError } from '../../engine/errors/errors.ts'
import { FrameSender } from '../../wire/session/frame-sender.ts'
import { type FrameReceiver, readServerFrame } from '../../wire/session/message-codec.ts'
import { CLOSE_CODES, SESSION_VERSION } from '../../wire/session/session-limits.ts'
import type { Request, ServerMessage, Welcome } from '../../wire/session/session-message.ts'
import type { Clock, Timer } from '../../time/clock.ts'
import { backOffMs } from '../../time/back-off.ts'
import type { FrameSocket } from '../../wire/session/frame-socket.ts'
import {
  FRAME_MESSAGES_MAX,
  GOODBYE_MS_MAX,
  HANDSHAKE_MS_MAX,
  UNANSWERED_HEARTBEATS_MAX,
  UNSENT_BYTES_MAX,
} from './session-limits.ts'
import type { OpenSocket, ServerAddress, SocketEnd } from './session-socket.ts'

/** Steps of the jitter between two attempts to connect. */
const FRACTIONS = 1_000

/** What a server says about a request, a watch or a hold. */
export type PassedOn = Exclude<ServerMessage, { kind: 'welcome' | 'heard' }>

export interface LinkHandler {
  /** Connected. What is written now goes out first. */
  onUp(welcome: Welcome): void
  /** Not connected any more, or still not. */
  onDown?(cause: unknown): void
  /** The server will never let this client in. */
  onRefused(error: LockError): void
  /** There is room again for what has to be sent. */
  onDrained?(): void
  /** The heartbeat that was sent then counts; `losses` as in the message. */
  onHeard(sentAtMs: number, losses: number): void
  onMessage?(number: number, message: PassedOn): void
}

export interface SessionLinkOptions extends ServerAddress {
  /** Shown to operators. */
  readonly client: string
  readonly clock: Clock
  readonly openSocket: OpenSocket
  readonly handler: LinkHandler
  /** The session to send heartbeats for, and nothing else; absent for a session of its own. */
  readonly heartbeatsFor?: string | undefined
}

/** The connection of a session, and the next one when it breaks. */
export class SessionLink implements FrameReceiver<ServerMessage> {
  readonly #options: SessionLinkOptions
  readonly #sender = new FrameSender(FRAME_MESSAGES_MAX, (frame) => this.#send(frame))
  #socket: FrameSocket | undefined
  #session: string | undefined
  #isUp = false
  #isCongested = false
  #keepsAlive = true
  #failures = 0
  #unanswered = 0
  /** To the end of the handshake, to the next heartbeat, or to the next attempt. */
  #timer: Timer | undefined
  #onClosed: ((wasHeard: boolean) => void) | undefined

  constructor(options: SessionLinkOptions) {
    this.#options = options
    this.#session = options.heartbeatsFor
  }

  get ownSession(): string {
    return this.#session ?? ''
  }

  /** Whether something may be written. */
  get isReady(): boolean {
    return this.#isUp && !this.#isCongested
  }

  get isUp(): boolean {
    return this.#isUp
  }

  connect(): void {
    const { openSocket } = this.#options
    const socket: FrameSocket = openSocket(this.#options, {
      onOpen: () => this.#hello(),
      onFrame: (frame) => this.#onFrame(socket, frame),
      onClosed: (end) => this.#onClosedSocket(socket, end),
    })
    this.#socket = socket
    this.#after(HANDSHAKE_MS_MAX, () => socket.terminate())
  }

  /** Leaves at the end of this turn of the event loop, with everything else that is written until then. */
  write(number: number, request: Request): void {
    this.#sender.write(number, request)
  }

  /** Whether a caller waits for something, so that the process has to stay: the timer keeps it alive. */
  keepAlive(isWanted: boolean): void {
    this.#keepsAlive = isWanted
    if (isWanted) this.#timer?.ref()
    else this.#timer?.unref()
  }

  /** Says good-bye. Resolves to whether the server has heard it, when the connection is closed. */
  async close(): Promise<boolean> {
    const socket = this.#socket
    if (socket === undefined) {
      this.#timer?.cancel()
      return false
    }
    const closed = new Promise<boolean>((resolve) => {
      this.#onClosed = resolve
    })
    this.#keepsAlive = true
    this.#after(GOODBYE_MS_MAX, () => socket.terminate())
    if (this.#isUp) {
      this.#sender.write(0, { kind: 'goodbye' })
      this.#sender.flush()
    } else {
      socket.terminate()
    }
    return closed
  }

  /** Without a word. */
  terminate(): void {
    this.#onClosed = () => {}
    this.#timer?.cancel()
    this.#socket?.terminate()
  }

  receive(number: number, message: ServerMessage): void {
    const { handler } = this.#options
    if (message.kind === 'welcome') this.#welcome(message)
    else if (message.kind === 'heard') handler.onHeard(number, message.losses)
    else handler.onMessage?.(number, message)
  }

  #hello(): void {
    const { client, heartbeatsFor } = this.#options
    const isHeartbeatOnly = heartbeatsFor === undefined ? undefined : true
    const hello = { kind: 'hello', client, session: this.#session, isHeartbeatOnly } as const
    this.#sender.write(SESSION_VERSION, hello)
    this.#sender.flush()
  }

  #welcome(welcome: Welcome): void {
    const { session, heartbeatMs } = welcome
    if (this.#session !== undefined && session !== this.#session) {
      throw new Error('the server gave the session another name')
    }
    this.#session = session
    this.#sender.ownSession = session
    this.#failures = 0
    this.#isUp = true
    this.#options.handler.onUp(welcome)
    this.#heartbeat()
    this.#heartbeatIn(heartbeatMs)
  }

  #heartbeatIn(delayMs: number): void {
    this.#after(delayMs, () => {
      // A process that was blocked itself has not read yet what arrived meanwhile: it takes several.
      this.#unanswered += 1
      if (this.#unanswered > UNANSWERED_HEARTBEATS_MAX) return this.#socket?.terminate()
      this.#heartbeat()
      this.#heartbeatIn(delayMs)
    })
  }

  #heartbeat(): void {
    this.#sender.write(this.#options.clock.nowMs(), { kind: 'heartbeat' })
    this.#sender.flush()
  }

  #onFrame(socket: FrameSocket, frame: Buffer): void {
    if (socket !== this.#socket) return
    this.#unanswered = 0
    try {
      readServerFrame(frame, this)
    } catch {
      // A server whose frames cannot be read is treated as one that does not answer.
      socket.terminate()
    }
  }

  #send(frame: Buffer): void {
    const socket = this.#socket
    if (socket === undefined) return
    if (socket.unsentBytes + frame.length < UNSENT_BYTES_MAX) return socket.send(frame)
    this.#isCongested = true
    socket.send(frame, () => this.#onSent(socket))
  }

  #onSent(socket: FrameSocket): void {
    if (socket !== this.#socket || !this.#isCongested) return
    this.#isCongested = socket.unsentBytes >= UNSENT_BYTES_MAX
    if (!this.#isCongested && this.#isUp) this.#options.handler.onDrained?.()
  }

  #onClosedSocket(socket: FrameSocket, end: SocketEnd): void {
    if (socket !== this.#socket) return
    this.#socket = undefined
    this.#isUp = false
    this.#isCongested = false
    this.#unanswered = 0
    this.#timer?.cancel()
    this.#sender.reset()
    if (this.#onClosed !== undefined) return this.#onClosed(end.code === 1000)
    const { handler } = this.#options
    const refusal = toRefusal(end)
    if (refusal !== undefined) return handler.onRefused(refusal)
    this.#connectLater()
    handler.onDown?.(end.cause ?? new Error(describeEnd(end)))
  }

  #connectLater(): void {
    this.#failures += 1
    this.#after(backOffMs(this.#failures, randomInt(FRACTIONS) / FRACTIONS), () => this.connect())
  }

  /** In place of what the timer was set for before. */
  #after(delayMs: number, callback: () => void): void {
    this.#timer?.cancel()
    this.#timer = this.#options.clock.setTimer(delayMs, callback)
    if (this.#keepsAlive) this.#timer.ref()
  }
}

function describeEnd({ code, reason, status }: SocketEnd): string {
  if (status !== undefined) return `it answers with the status ${status}`
  return reason === '' ? `the connection was closed (${code})` : reason
}

/** What trying again does not change. */
function toRefusal({ code, status, reason }: SocketEnd): LockError | undefined {
  if (status === 401 || status === 403) {
    return createError('LOCK_FORBIDDEN', 'the server does not let this client in; see its token', {
      details: { status },
    })
  }
  if (status === 404) {
    return createError('LOCK_ENGINE_UNAVAILABLE', 'there is no lock server at this address', {
      details: { status },
    })
  }
  if (code === CLOSE_CODES.protocol) {
    return createError('LOCK_INTERNAL', `the server does not understand this client: ${reason}`)
  }
  if (code !== CLOSE_CODES.version) return undefined
  return createError('LOCK_ENGINE_UNAVAILABLE', `the server speaks another version: ${reason}`)
}

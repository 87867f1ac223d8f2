import type { WatchEvent } from '../../engine/engine.ts'
import { createError, type LockError } from '../../engine/errors.ts'
import type { Outcome } from '../../law/outcomes.ts'
import {
  writeGoodbye,
  writeHeartbeat,
  writeHello,
  writeReceived,
} from '../../protocol/session/client-frames.ts'
import { PackWriter } from '../../protocol/session/pack-writer.ts'
import { readServerFrame } from '../../protocol/session/server-frames.ts'
import type {
  Failure,
  Lost,
  ServerFrameHandler,
  Welcome,
} from '../../protocol/session/server-message.ts'
import {
  CLOSE_CODES,
  CLIENT_FRAME_MESSAGES,
  SESSION_VERSION,
} from '../../protocol/session/session-limits.ts'
import { HEAD_ROOM } from '../../protocol/websocket/frame-format.ts'
import type { Clock, Timer } from '../../time/clock.ts'
import { backOffMs } from './back-off.ts'
import {
  GOODBYE_MS_MAX,
  HANDSHAKE_MS_MAX,
  RECONNECT_MS_MAX,
  UNANSWERED_BEATS_MAX,
  UNCONFIRMED_BYTES_MAX,
  UNCONFIRMED_FRAMES_MAX,
  UNSENT_BYTES_MAX,
} from './session-limits.ts'
import { SessionSocket, type SessionSocketOptions, type SocketEnd } from './session-socket.ts'

/** What the server says that is none of the link's own business. */
type PassedOn = 'outcome' | 'failure' | 'reply' | 'done' | 'event' | 'lost' | 'over' | 'comeBack'

/** What the link passes on of what it hears. */
export interface LinkHandler extends Pick<ServerFrameHandler, PassedOn> {
  /** Connected. `sentAtMs` is when the hello was sent. */
  onUp(welcome: Welcome, sentAtMs: number): void
  /** Not connected any more, or still not. */
  onDown(cause: unknown): void
  /** The server will never have us. */
  onRefused(error: LockError): void
  /** There is room again for what has to be said. */
  onDrained(): void
  onVouched(sentAtMs: number): void
}

export interface SessionLinkOptions extends SessionSocketOptions {
  /** Shown to operators. */
  readonly client: string
  readonly clock: Clock
  readonly handler: LinkHandler
}

/**
 * The connection of a session, and the next one when it breaks. Everything that is said in one turn of
 * the event loop leaves as one frame, at its end.
 */
export class SessionLink implements ServerFrameHandler {
  readonly #options: SessionLinkOptions
  readonly #handler: LinkHandler
  readonly #writer = new PackWriter(HEAD_ROOM)
  readonly #flush = (): void => {
    this.#isScheduled = false
    this.flush()
  }
  #socket: SessionSocket | undefined
  #session: string | undefined
  #isUp = false
  #isScheduled = false
  #messages = 0
  #isCongested = false
  #keepsAlive = true
  #helloAtMs = 0
  #attempts = 0
  #unanswered = 0
  /** The number of the last frame that was received, and of the last that was confirmed. */
  #received = 0
  #confirmed = 0
  #unconfirmedBytes = 0
  /** To the end of the handshake, to the next heartbeat, or to the next attempt. */
  #timer: Timer | undefined
  #onClosed: ((wasSaid: boolean) => void) | undefined
  #isClosed = false

  constructor(options: SessionLinkOptions) {
    this.#options = options
    this.#handler = options.handler
  }

  /** Whether something may be said. */
  get isReady(): boolean {
    return this.#isUp && !this.#isCongested
  }

  get isUp(): boolean {
    return this.#isUp
  }

  connect(): void {
    const socket: SessionSocket = new SessionSocket(this.#options, {
      onOpen: () => this.#sayHello(socket),
      onFrame: (frame) => this.#onFrame(socket, frame),
      onDrained: () => this.#onDrained(),
      onClosed: (end) => this.#onEnd(socket, end),
    })
    this.#socket = socket
    socket.keepAlive(this.#keepsAlive)
    this.#timer = this.#options.clock.setTimer(HANDSHAKE_MS_MAX, () => socket.terminate())
  }

  /** Write one message to the returned writer, at once. Only while it is up. */
  open(): PackWriter {
    if (this.#messages >= CLIENT_FRAME_MESSAGES) this.flush()
    this.#messages += 1
    if (!this.#isScheduled) {
      this.#isScheduled = true
      process.nextTick(this.#flush)
    }
    return this.#writer
  }

  /** Send what was said so far, without waiting for the end of the turn. */
  flush(): void {
    this.#messages = 0
    const socket = this.#socket
    if (!this.#isUp || socket === undefined || this.#writer.length === 0) return
    if (this.#received > this.#confirmed) {
      this.#confirmed = this.#received
      this.#unconfirmedBytes = 0
      writeReceived(this.#writer, this.#received)
    }
    socket.send(this.#writer.take())
    if (socket.unsentBytes > UNSENT_BYTES_MAX) this.#isCongested = true
  }

  /** Whether somebody waits for something, so that the process has to stay. */
  keepAlive(isWanted: boolean): void {
    this.#keepsAlive = isWanted
    this.#socket?.keepAlive(isWanted)
    if (isWanted) this.#timer?.ref()
    else this.#timer?.unref()
  }

  /** Says good-bye. Resolves to whether the server has heard it, when the connection is closed. */
  async close(): Promise<boolean> {
    this.#isClosed = true
    const wasUp = this.#isUp
    this.#timer?.cancel()
    if (this.#socket === undefined) return false
    const closed = new Promise<boolean>((resolve) => {
      this.#onClosed = resolve
    })
    if (wasUp) {
      // What was not heard by then is given back.
      this.#confirm()
      writeGoodbye(this.open())
      this.flush()
      this.#isUp = false
      this.#socket.keepAlive(true)
    } else {
      this.#socket.terminate()
    }
    this.#timer = this.#options.clock.setTimer(GOODBYE_MS_MAX, () => this.#socket?.terminate())
    this.#timer.ref()
    const wasHeard = await closed
    this.#timer.cancel()
    return wasUp && wasHeard
  }

  welcome(welcome: Welcome): void {
    if (this.#session !== undefined && welcome.session !== this.#session) {
      throw new Error('the server gave the session another name')
    }
    this.#session = welcome.session
    if (!welcome.resumed) {
      this.#received = 0
      this.#confirmed = 0
    }
    this.#attempts = 0
    this.#isUp = true
    this.#isCongested = false
    this.#writer.reset()
    this.#timer?.cancel()
    if (welcome.resumed) this.#beat()
    this.#beatIn(welcome.heartbeatMs)
    this.#handler.onUp(welcome, this.#helloAtMs)
  }

  frame(number: number): boolean {
    if (number <= this.#received) return false
    this.#received = number
    return true
  }

  beat(sentAtMs: number): void {
    this.#handler.onVouched(sentAtMs)
  }

  outcome(id: number, outcome: Outcome): void {
    this.#handler.outcome(id, outcome)
  }

  failure(id: number, failure: Failure): void {
    this.#handler.failure(id, failure)
  }

  reply(id: number, reply: unknown): void {
    this.#handler.reply(id, reply)
  }

  done(id: number): void {
    this.#handler.done(id)
  }

  event(watch: number, event: WatchEvent): void {
    this.#handler.event(watch, event)
  }

  lost(lost: Lost): void {
    this.#handler.lost(lost)
  }

  /** Before this is confirmed, nothing can be held in the session again. */
  over(): void {
    this.#handler.over()
    if (this.#isUp) this.#confirm()
  }

  /** The close that follows says it again. Until then, nobody listens to what is said here. */
  comeBack(lastId: number | undefined): void {
    this.#isUp = false
    this.#handler.comeBack(lastId)
  }

  #sayHello(socket: SessionSocket): void {
    this.#helloAtMs = this.#options.clock.nowMs()
    const writer = new PackWriter(HEAD_ROOM)
    writeHello(writer, {
      version: SESSION_VERSION,
      client: this.#options.client,
      session: this.#session,
      received: this.#received,
      pulse: false,
    })
    socket.send(writer.take())
  }

  #onFrame(socket: SessionSocket, frame: Uint8Array): void {
    if (socket !== this.#socket) return
    this.#unanswered = 0
    try {
      readServerFrame(frame, this)
    } catch {
      // A server that makes no sense is as good as none.
      socket.terminate()
      return
    }
    this.#unconfirmedBytes += frame.length
    const isLate =
      this.#received - this.#confirmed > UNCONFIRMED_FRAMES_MAX ||
      this.#unconfirmedBytes > UNCONFIRMED_BYTES_MAX
    if (isLate && this.#isUp && this.#received > this.#confirmed) this.#confirm()
  }

  #confirm(): void {
    this.#confirmed = this.#received
    this.#unconfirmedBytes = 0
    writeReceived(this.open(), this.#received)
  }

  #onDrained(): void {
    if (!this.#isCongested) return
    this.#isCongested = false
    this.#handler.onDrained()
  }

  #beatIn(delayMs: number): void {
    this.#timer = this.#options.clock.setTimer(delayMs, () => {
      // Whoever was blocked itself has not read yet what arrived meanwhile: it takes several.
      this.#unanswered += 1
      if (this.#unanswered > UNANSWERED_BEATS_MAX) {
        this.#socket?.terminate()
        return
      }
      this.#beat()
      this.#beatIn(delayMs)
    })
  }

  /** What it confirms includes everything that was said before it is answered. */
  #beat(): void {
    const sentAtMs = this.#options.clock.nowMs()
    this.#confirmed = this.#received
    this.#unconfirmedBytes = 0
    writeHeartbeat(this.open(), { sentAtMs, received: this.#received })
    this.flush()
  }

  #onEnd(socket: SessionSocket, end: SocketEnd): void {
    if (socket !== this.#socket) return
    this.#socket = undefined
    this.#isUp = false
    this.#timer?.cancel()
    this.#unanswered = 0
    this.#writer.reset()
    if (this.#isClosed) return this.#onClosed?.(end.code === 1000)
    const refusal = toRefusal(end)
    if (refusal !== undefined) return this.#handler.onRefused(refusal)
    this.#connectLater()
    this.#handler.onDown(end.cause ?? new Error(describeEnd(end)))
  }

  #connectLater(): void {
    this.#attempts += 1
    const delayMs = backOffMs(this.#attempts, RECONNECT_MS_MAX)
    this.#timer = this.#options.clock.setTimer(delayMs, () => this.connect())
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

import type { FrameSocket, FrameSocketEvents } from '../../wire/session/frame-socket.ts'
import { FrameSender } from '../../wire/session/frame-sender.ts'
import { type FrameReceiver, readClientFrame } from '../../wire/session/message-codec.ts'
import { ProtocolError } from '../../wire/session/protocol-error.ts'
import {
  CLOSE_CODES,
  OPEN_REQUESTS_MAX,
  SESSION_VERSION,
} from '../../wire/session/session-limits.ts'
import type { ClientMessage, Hello, ServerMessage } from '../../wire/session/session-message.ts'
import type { Clock, Timer } from '../../time/clock.ts'
import type { Caller } from '../access/access.ts'
import type { SessionMetrics } from '../observe/session-metrics.ts'
import type { UnsentBytes } from '../http/unsent-bytes.ts'
import type { ClientSession } from './client-session.ts'
import {
  FRAME_MESSAGES_MAX,
  HELLO_MS_MAX,
  READS_WAITING_MAX,
  UNSENT_BYTES_MAX,
} from './connection-limits.ts'
import { toFailed } from './failure.ts'
import { ReadQueue } from './read-queue.ts'
import { SessionWatches } from './session-watches.ts'

export interface SessionConnectionParts {
  readonly caller: Caller
  /** Of the sockets: real time. */
  readonly clock: Clock
  readonly graceMs: number
  readonly heartbeatMs: number
  readonly metrics: SessionMetrics
  /** What all connections of the server have not taken. */
  readonly unsent: UnsentBytes
  /** Bytes that this socket has not taken: above this it is cut. */
  readonly unsentMax: number
  /** Opens the socket, which tells what arrives. */
  readonly open: (events: FrameSocketEvents) => FrameSocket
  /** Counts a watch, or throws where there are too many; returns how to say that it is over. */
  readonly takeWatch: () => () => void
  /** The session of a hello; `undefined` for heartbeats of one that is not there. */
  readonly greet: (hello: Hello) => Promise<ClientSession | undefined>
  /** Told of what goes wrong here and is no fault of the client. */
  readonly onFailure: (error: unknown) => void
  readonly onClosed: () => void
}

/** One WebSocket of a client: what arrives goes to its session, what the session says leaves here. */
export class SessionConnection implements FrameReceiver<ClientMessage> {
  readonly #parts: SessionConnectionParts
  readonly #socket: FrameSocket
  readonly #sender = new FrameSender(FRAME_MESSAGES_MAX, (frame) => this.#send(frame))
  readonly #watches: SessionWatches
  readonly #reads: ReadQueue
  readonly #helloTimer: Timer
  #session: ClientSession | undefined
  #isGreeted = false
  #isHeartbeatOnly = false
  #isPaused = false
  /** Nothing that still arrives is done. */
  #isOver = false

  constructor(parts: SessionConnectionParts) {
    this.#parts = parts
    this.#socket = parts.open({
      onFrame: (frame) => this.#onFrame(frame),
      onClosed: () => this.#onClosed(),
    })
    this.#watches = new SessionWatches({
      engine: parts.caller.engine,
      take: parts.takeWatch,
      tell: (watch, event) => this.write(watch, { kind: 'event', event }),
      hasRoom: () => this.#hasRoom,
    })
    this.#reads = new ReadQueue({
      nowMs: () => parts.clock.nowMs(),
      hasRoom: () => this.#hasRoom,
      read: async (id, query) => this.#session?.read(id, query),
      onShorter: () => this.#resume(),
    })
    this.#helloTimer = parts.clock.setTimer(HELLO_MS_MAX, () => this.#socket.terminate())
  }

  get ownSession(): string {
    return this.#session?.id ?? ''
  }

  receive(number: number, message: ClientMessage): void {
    if (this.#isOver) return
    if (message.kind === 'hello') return this.#hello(number, message)
    const session = this.#session
    if (session === undefined) throw new ProtocolError('the first message is hello')
    if (message.kind === 'heartbeat') return this.#heartbeat(number, session)
    if (this.#isHeartbeatOnly) throw new ProtocolError('this connection is for heartbeats only')
    if (message.kind === 'goodbye') return this.#goodbye(session)
    this.#parts.metrics.requests.value += 1
    if (!isRequestId(number)) throw new ProtocolError(`${number} is no id of a request`)
    switch (message.kind) {
      case 'read':
        return this.#reads.add(number, message.query)
      case 'watch': {
        const { watch, prefix, namespace } = message
        return session.perform(number, () => this.#watches.open(watch, { prefix, namespace }))
      }
      case 'unwatch':
        return session.perform(number, () => this.#watches.close(message.watch))
      default:
        return session.command(number, message)
    }
  }

  /** Leaves at the end of this turn of the event loop, with everything else that is written until then. */
  write(number: number, message: ServerMessage): void {
    try {
      this.#sender.write(number, message)
    } catch (error) {
      this.#parts.onFailure(error)
      this.#sender.write(number, toFailed(error))
    }
  }

  /** A newer connection of the same session is there. */
  supersede(): void {
    this.close(CLOSE_CODES.superseded, 'the session is connected anew')
  }

  /** The server is about to stop: nothing more is begun. */
  pause(): void {
    this.#isOver = true
  }

  close(code: number, reason: string): void {
    this.#isOver = true
    this.#sender.flush()
    // The answer of the client to the close has to be read.
    this.#socket.resume()
    this.#socket.close(code, reason)
  }

  #hello(version: number, hello: Hello): void {
    if (this.#isGreeted) throw new ProtocolError('there is one hello in a connection')
    this.#isGreeted = true
    if (version !== SESSION_VERSION) {
      return this.close(CLOSE_CODES.version, `this server speaks version ${SESSION_VERSION}`)
    }
    this.#isHeartbeatOnly = hello.isHeartbeatOnly === true
    this.#parts.greet(hello).then(
      (session) => this.#welcome(session),
      (error: unknown) => {
        this.#parts.onFailure(error)
        this.close(CLOSE_CODES.stopping, 'the engine cannot be reached')
      },
    )
  }

  #welcome(session: ClientSession | undefined): void {
    if (session === undefined) {
      return this.close(CLOSE_CODES.unknownSession, 'there is no such session')
    }
    const { graceMs, heartbeatMs, clock, caller } = this.#parts
    if (!this.#socket.isOpen || this.#isOver) {
      // The client was gone before it could be welcomed.
      if (session.connection === undefined) session.startGrace()
      return
    }
    this.#helloTimer.cancel()
    this.#session = session
    this.#sender.ownSession = session.id
    session.heardAtMs = clock.nowMs()
    if (this.#isHeartbeatOnly) session.heartbeats.add(this)
    else session.attach(this)
    const { capabilities } = caller.engine
    const { id, losses } = session
    const welcome = { kind: 'welcome', session: id, graceMs, heartbeatMs, losses } as const
    this.write(SESSION_VERSION, { ...welcome, capabilities })
  }

  #heartbeat(sentAt: number, session: ClientSession): void {
    void session.law.touch().then((counts) => {
      if (counts) this.write(sentAt, { kind: 'heard', losses: session.losses })
    })
  }

  #goodbye(session: ClientSession): void {
    this.#isOver = true
    this.#watches.closeAll()
    void session.goodbye().then(() => this.close(1000, 'good-bye'))
  }

  #onFrame(frame: Buffer): void {
    const session = this.#session
    const { metrics, clock } = this.#parts
    metrics.framesIn.value += 1
    if (session !== undefined) session.heardAtMs = clock.nowMs()
    try {
      readClientFrame(frame, this)
      if (this.#reads.length > READS_WAITING_MAX) this.#pause()
    } catch (error) {
      const isTheirs = error instanceof ProtocolError
      if (!isTheirs) this.#parts.onFailure(error)
      const why = isTheirs ? error.message : 'this makes no sense'
      this.close(CLOSE_CODES.protocol, why.slice(0, 120))
    }
  }

  /** A client that does not read is not read from either, and cut when too much waits for it. */
  #send(frame: Buffer): void {
    const socket = this.#socket
    const { metrics, unsent, unsentMax } = this.#parts
    if (!socket.isOpen) return
    metrics.framesOut.value += 1
    if (socket.unsentBytes > unsentMax) return socket.terminate()
    if (socket.unsentBytes + frame.length < UNSENT_BYTES_MAX) socket.send(frame)
    else {
      socket.send(frame, () => this.#onSent())
      this.#pause()
    }
    unsent.wrote(frame.length)
  }

  get #hasRoom(): boolean {
    return this.#socket.unsentBytes < UNSENT_BYTES_MAX
  }

  #onSent(): void {
    if (!this.#hasRoom) return
    this.#watches.catchUp()
    this.#reads.next()
    this.#resume()
  }

  #pause(): void {
    if (this.#isPaused || this.#isOver) return
    this.#isPaused = true
    this.#socket.pause()
  }

  #resume(): void {
    if (!this.#isPaused || !this.#hasRoom || this.#reads.length > READS_WAITING_MAX) return
    this.#isPaused = false
    this.#socket.resume()
  }

  #onClosed(): void {
    this.#isOver = true
    this.#helloTimer.cancel()
    this.#watches.closeAll()
    this.#reads.clear()
    this.#session?.detach(this)
    this.#parts.onClosed()
  }
}

function isRequestId(number: number): boolean {
  return Number.isInteger(number) && number >= 0 && number < OPEN_REQUESTS_MAX
}

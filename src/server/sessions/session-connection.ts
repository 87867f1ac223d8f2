import type { Socket } from 'node:net'
import type { LockEngine, WatchFilter } from '../../engine/engine.ts'
import type { Query } from '../../engine/queries.ts'
import type { Command } from '../../law/commands.ts'
import { readClientFrame } from '../../protocol/session/client-frames.ts'
import type { ClientFrameHandler, Heartbeat, Hello } from '../../protocol/session/client-message.ts'
import { PackWriter } from '../../protocol/session/pack-writer.ts'
import { ProtocolError } from '../../protocol/session/protocol-error.ts'
import { writeBeat, writeComeBack, writeWelcome } from '../../protocol/session/server-frames.ts'
import {
  CLIENT_FRAME_BYTES_MAX,
  CLOSE_CODES,
  SESSION_VERSION,
} from '../../protocol/session/session-limits.ts'
import { HEAD_ROOM } from '../../protocol/websocket/frame-format.ts'
import { FrameSocket } from '../../protocol/websocket/frame-socket.ts'
import type { Clock, Timer } from '../../time/clock.ts'
import type { Principal } from '../access/principal.ts'
import type { PrincipalView } from '../access/principal-view.ts'
import type { SessionMetrics } from '../metrics/session-metrics.ts'
import type { ClientSession } from './client-session.ts'
import {
  CLOSE_MS_MAX,
  HELLO_MS_MAX,
  UNCONFIRMED_BYTES_MAX,
  UNSENT_BYTES_MAX,
} from './connection-limits.ts'
import type { FrameSink } from './outbox.ts'

/** What a connection finds its session with. */
export interface Caller {
  readonly principal: Principal
  readonly engine: LockEngine
  readonly view: PrincipalView
}

export interface Greeting {
  readonly session: ClientSession
  readonly resumed: boolean
  readonly kept: boolean
}

export interface SessionConnectionParts {
  /** Upgraded, and what was read of it together with the upgrade. */
  readonly socket: Socket
  readonly head: Buffer
  readonly caller: Caller
  /** Of the sockets: real time. */
  readonly clock: Clock
  readonly graceMs: number
  readonly heartbeatMs: number
  readonly metrics: SessionMetrics
  /** The session of a hello; `undefined` if it only vouches for one that is not there. */
  readonly greet: (hello: Hello, caller: Caller) => Promise<Greeting | undefined>
  /** Told of what goes wrong here and is no fault of the client. */
  readonly onFailure: (error: unknown) => void
  readonly onClosed: () => void
}

/** One WebSocket of a client. What it says is passed to its session; what the session says leaves here. */
export class SessionConnection implements ClientFrameHandler, FrameSink {
  readonly #parts: SessionConnectionParts
  readonly #socket: FrameSocket
  readonly #writer = new PackWriter(HEAD_ROOM)
  #session: ClientSession | undefined
  #timer: Timer
  #isGreeted = false
  #isPulse = false
  #isPaused = false

  constructor(parts: SessionConnectionParts) {
    const { socket, head, clock } = parts
    this.#parts = parts
    this.#socket = new FrameSocket({
      socket,
      head,
      side: 'server',
      messageBytesMax: CLIENT_FRAME_BYTES_MAX,
      events: {
        onMessage: (bytes, isBinary) => this.#onMessage(bytes, isBinary),
        onRead: () => this.#session?.onRead(),
        onDrained: () => this.#resume(),
        onMalformed: ({ closeCode, message }) => this.close(closeCode, message),
        onClosed: () => this.#onClose(),
      },
    })
    this.#timer = clock.setTimer(HELLO_MS_MAX, () => this.terminate())
  }

  get ownSession(): string {
    return this.#session?.id ?? ''
  }

  hello(hello: Hello): void {
    if (this.#isGreeted) throw new ProtocolError('there is one hello in a connection')
    this.#isGreeted = true
    if (hello.version !== SESSION_VERSION) {
      return this.close(CLOSE_CODES.version, `this server speaks version ${SESSION_VERSION}`)
    }
    this.#isPulse = hello.pulse
    this.#parts.greet(hello, this.#parts.caller).then(
      (greeting) => this.#welcome(hello, greeting),
      () => this.close(CLOSE_CODES.stopping, 'the engine cannot be reached'),
    )
  }

  heartbeat({ sentAtMs, received }: Heartbeat): void {
    const session = this.#present()
    if (!this.#isPulse) session.confirm(received)
    session.isTouchDue = false
    void session.law.touch().then((touch) => {
      if (touch !== 'counts' || (this.#isPulse && session.isEndUnheard)) return
      this.#send(() => writeBeat(this.#writer, sentAtMs))
    })
  }

  received(frame: number): void {
    this.#speaking().confirm(frame)
  }

  goodbye(): void {
    const session = this.#speaking()
    void session.goodbye().then(() => this.close(1000, 'good-bye'))
  }

  command(id: number, command: Command, mayAbort: boolean): void {
    this.#speaking().command(id, command, mayAbort)
  }

  abort(id: number): void {
    this.#speaking().abort(id)
  }

  read(id: number, query: Query): void {
    this.#speaking().read(id, query)
  }

  watch(id: number, filter: WatchFilter): void {
    this.#speaking().watch(id, filter)
  }

  unwatch(id: number, watch: number): void {
    this.#speaking().unwatch(id, watch)
  }

  sendFrame(frame: Buffer): void {
    const socket = this.#socket
    this.#parts.metrics.framesOut.value += 1
    socket.send(frame)
    if (socket.unsentBytes <= UNSENT_BYTES_MAX || this.#isPaused) return
    this.#isPaused = true
    socket.pause()
  }

  /** A newer connection of the same session is there. */
  supersede(): void {
    this.close(CLOSE_CODES.superseded, 'the session is connected anew')
  }

  /** The server stops. What its session has not seen up to now it will not see any more. */
  comeBack(): void {
    const lastId = this.#isPulse ? undefined : this.#session?.lastId
    this.#send(() => writeComeBack(this.#writer, lastId))
    this.close(CLOSE_CODES.stopping, 'come back')
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason)
    // A client that is frozen or cut off does not answer the close.
    this.#timer.cancel()
    this.#timer = this.#parts.clock.setTimer(CLOSE_MS_MAX, () => this.#socket.terminate())
  }

  terminate(): void {
    this.#socket.terminate()
  }

  #welcome(hello: Hello, greeting: Greeting | undefined): void {
    if (!this.#socket.isOpen) return greeting?.session.leaveAlone()
    if (greeting === undefined) {
      return this.close(CLOSE_CODES.unknownSession, 'there is no such session')
    }
    const { session, resumed, kept } = greeting
    const { graceMs, heartbeatMs, clock, caller } = this.#parts
    this.#timer.cancel()
    this.#session = session
    session.heardAtMs = clock.nowMs()
    const welcome = {
      version: SESSION_VERSION,
      session: session.id,
      graceMs,
      heartbeatMs,
      resumed,
      kept,
      lastId: session.lastId,
      capabilities: caller.engine.capabilities,
    }
    this.#send(() => writeWelcome(this.#writer, welcome))
    if (this.#isPulse) session.pulses.add(this)
    else session.attach(this, resumed ? hello.received : 0)
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    const session = this.#session
    this.#parts.metrics.framesIn.value += 1
    if (session !== undefined) {
      session.heardAtMs = this.#parts.clock.nowMs()
      session.isTouchDue = true
      if (!this.#isPulse) session.isMet = true
      session.onReading()
    }
    try {
      if (!isBinary) throw new ProtocolError('a session speaks in binary frames')
      readClientFrame(data, this)
    } catch (error) {
      const isTheirs = error instanceof ProtocolError
      if (!isTheirs) this.#parts.onFailure(error)
      const why = isTheirs ? error.message : 'this makes no sense'
      this.close(CLOSE_CODES.protocol, why.slice(0, 120))
    }
    if (session !== undefined && session.keptBytes > UNCONFIRMED_BYTES_MAX) {
      this.close(CLOSE_CODES.overflow, 'nothing that was sent is confirmed')
    }
  }

  #onClose(): void {
    this.#timer.cancel()
    this.#session?.detach(this)
    this.#parts.onClosed()
  }

  #resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume()
  }

  /** What is about this connection alone is sent at once and not kept. */
  #send(write: () => void): void {
    if (!this.#socket.isOpen) return
    write()
    this.#parts.metrics.framesOut.value += 1
    this.#socket.send(this.#writer.take())
  }

  #present(): ClientSession {
    if (this.#session === undefined) throw new ProtocolError('the first message is hello')
    return this.#session
  }

  #speaking(): ClientSession {
    const session = this.#present()
    if (this.#isPulse) throw new ProtocolError('this connection only vouches for its session')
    return session
  }
}

import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createError, isLockError, type LockError } from '../../engine/errors.ts'
import { GRACE_MS_MAX, ID_BYTES_MAX } from '../../engine/validation/limits.ts'
import type { Hello } from '../../protocol/session/client-message.ts'
import { CLOSE_CODES } from '../../protocol/session/session-limits.ts'
import type { Timer } from '../../time/clock.ts'
import { SystemClock } from '../../time/system-clock.ts'
import { toErrorAnswer } from '../http/error-answer.ts'
import { HttpError } from '../http/http-error.ts'
import { refuseUpgrade } from '../http/refuse-upgrade.ts'
import type { SessionMetrics } from '../metrics/session-metrics.ts'
import type { ServerContext } from '../server-context.ts'
import type { NumberedEvent } from '../streams/event-hub.ts'
import { acceptUpgrade } from './accept-upgrade.ts'
import { ClientSession } from './client-session.ts'
import { HEARTBEAT_MS_MAX, HEARTBEATS_PER_GRACE, WIND_UP_MS_MAX } from './connection-limits.ts'
import { type Caller, type Greeting, SessionConnection } from './session-connection.ts'
import { SESSION_ROUTE } from './session-route.ts'

const ID_BYTES = 16

/** Every session of one server, and the door to them. */
export class SessionHub {
  readonly #context: ServerContext
  readonly #graceMs: number
  readonly #heartbeatMs: number
  readonly #metrics: SessionMetrics
  readonly #connections = new Set<SessionConnection>()
  /** By the name that the engine knows. */
  readonly #sessions = new Map<string, ClientSession>()
  readonly #unlisten: () => void
  #sweep: Timer
  #sweptAtMs: number
  #isClosed = false

  constructor(context: ServerContext) {
    const { sessionGraceMs, events, socketClock } = context
    this.#context = context
    this.#metrics = context.metrics.sessions
    this.#graceMs = Math.min(sessionGraceMs, GRACE_MS_MAX)
    const heartbeatMs = Math.ceil(this.#graceMs / HEARTBEATS_PER_GRACE)
    this.#heartbeatMs = Math.min(heartbeatMs, HEARTBEAT_MS_MAX)
    this.#unlisten = events.listen((numbered) => this.#onEvent(numbered))
    this.#sweptAtMs = socketClock.nowMs()
    this.#sweep = this.#setSweep()
  }

  /** For the `upgrade` event of an HTTP server. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const isKnown = pathOf(request) === SESSION_ROUTE.path
    try {
      if (this.#isClosed) throw createError('LOCK_ENGINE_CLOSED', 'the server stops')
      if (!isKnown) throw nothingHere()
      const caller = this.#admit(request)
      acceptUpgrade(request, socket)
      // Of an HTTP server it is a socket of the network, plain or with TLS.
      this.#accept(socket as Socket, head, caller)
    } catch (error) {
      const answer = toErrorAnswer(error)
      this.#context.failures.report(error)
      this.#context.log.debug('session refused', { status: answer.status })
      this.#context.metrics.answered(isKnown ? SESSION_ROUTE : undefined, answer.status)
      refuseUpgrade(request, socket, answer)
    }
  }

  /**
   * Answers what was accepted, and tells clients to come back, here or to another. What they hold and wait
   * for stands. Resolves when everybody was told.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#sweep.cancel()
    let onLate = (): void => {}
    const late = new Promise<void>((resolve) => {
      onLate = resolve
    })
    const timer = new SystemClock().setTimer(WIND_UP_MS_MAX, () => onLate())
    await Promise.all([...this.#sessions.values()].map((session) => dismiss(session, late)))
    timer.cancel()
    this.#unlisten()
    this.#sessions.clear()
    for (const connection of this.#connections) connection.comeBack()
  }

  #admit(request: IncomingMessage): Caller {
    const { access } = this.#context
    const principal = access.authenticate(request, SESSION_ROUTE.access)
    return { principal, engine: access.engineFor(principal), view: access.viewOf(principal) }
  }

  #accept(socket: Socket, head: Buffer, caller: Caller): void {
    const connection = new SessionConnection({
      socket,
      head,
      caller,
      clock: this.#context.socketClock,
      graceMs: this.#graceMs,
      heartbeatMs: this.#heartbeatMs,
      metrics: this.#metrics,
      greet: (hello) => this.#greet(hello, caller),
      onFailure: (error) => this.#onFailure(error),
      onClosed: () => this.#connections.delete(connection),
    })
    this.#connections.add(connection)
    if (this.#isClosed) connection.comeBack()
  }

  async #greet(hello: Hello, caller: Caller): Promise<Greeting | undefined> {
    if (this.#isClosed) throw new Error('the server stops')
    const { session: named, pulse } = hello
    const id = named !== undefined && isId(named) ? named : undefined
    const known = id === undefined ? undefined : this.#sessions.get(caller.view.toStored(id))
    if (known !== undefined) {
      // Coming back is a sign of life; whether it came in time is the engine's to say.
      const touch = await known.law.touch()
      if (touch === 'unheard' || known.isOver) throw new Error('the engine does not answer')
      // Who has not heard its welcome still counts the frames of the server before, and what it held there.
      const resumed = pulse || known.isMet
      const kept = touch === 'counts' && (resumed || known.law.isOpen)
      if (!pulse && resumed) {
        this.#metrics.resumed.value += 1
        this.#tell('resumed', caller.view.toStored(known.id), hello)
      }
      return { session: known, resumed, kept }
    }
    if (pulse) return undefined
    const session = this.#create(id ?? randomBytes(ID_BYTES).toString('hex'), caller)
    this.#tell('opened', caller.view.toStored(session.id), hello)
    try {
      const kept = id !== undefined && (await session.law.adopt())
      if (session.isOver) throw tooSlow()
      return { session, resumed: false, kept }
    } catch (error) {
      this.#onFailure(error)
      session.abandon('gone')
      throw error
    }
  }

  #create(id: string, { principal, engine, view }: Caller): ClientSession {
    const stored = view.toStored(id)
    const session = new ClientSession({
      id,
      engine,
      view,
      graceMs: this.#graceMs,
      setTimer: (onOver) => this.#context.clock.setTimer(this.#context.sessionGraceMs, onOver),
      requests: this.#metrics.requests,
      takeWatch: () => this.#context.streams.take(principal.name),
      onFailure: (error) => this.#onFailure(error),
      onEnded: (end) => {
        this.#metrics.ended[end].value += 1
        this.#context.log.debug('session ended', { session: stored, reason: end })
        if (this.#sessions.get(stored) === session) this.#sessions.delete(stored)
        for (const pulse of session.pulses) {
          pulse.close(CLOSE_CODES.unknownSession, 'the session has ended')
        }
      },
    })
    // The engine may take its time to know it; its client is not silent meanwhile.
    session.heardAtMs = this.#context.socketClock.nowMs()
    this.#sessions.set(stored, session)
    this.#metrics.opened.value += 1
    return session
  }

  /** A client says who it is for operators alone, so a log is where its name goes. */
  #tell(what: 'opened' | 'resumed', stored: string, { client }: Hello): void {
    const { log } = this.#context
    log.debug(`session ${what}`, { session: stored, client: client.slice(0, ID_BYTES_MAX) })
  }

  #onFailure(error: unknown): void {
    const { failures, metrics } = this.#context
    failures.report(error)
    if (isLockError(error, 'LOCK_LIMIT')) metrics.refused('session', 'limit')
  }

  #onEvent({ event }: NumberedEvent): void {
    if (event.kind === 'reset' || event.session === undefined) return
    this.#sessions.get(event.session)?.onEvent(event)
  }

  #setSweep(): Timer {
    return this.#context.socketClock.setTimer(this.#heartbeatMs, () => {
      this.#sweep = this.#setSweep()
      this.#look()
    })
  }

  /** Drops those who fell silent, and tells the engine of those who did not. */
  #look(): void {
    const nowMs = this.#context.socketClock.nowMs()
    // Whoever was stopped itself has not read yet what arrived meanwhile.
    const wasAwake = nowMs - this.#sweptAtMs < 2 * this.#heartbeatMs
    this.#sweptAtMs = nowMs
    for (const session of this.#sessions.values()) {
      if (session.isTouchDue && session.law.isOpen) {
        session.isTouchDue = false
        void session.law.touch()
      }
      if (wasAwake && nowMs - session.heardAtMs > this.#graceMs) this.#dropSilent(session)
    }
  }

  /** A frozen or cut-off client keeps its socket open; it had its grace while nothing came. */
  #dropSilent(session: ClientSession): void {
    const { connection } = session
    connection?.close(CLOSE_CODES.silent, 'nothing was heard')
    session.abandon(connection === undefined ? 'gone' : 'silent')
  }
}

async function dismiss(session: ClientSession, late: Promise<void>): Promise<void> {
  await Promise.race([session.windUp(), late])
  session.stop()
  session.connection?.comeBack()
}

function pathOf({ url = '' }: IncomingMessage): string {
  const mark = url.indexOf('?')
  return mark === -1 ? url : url.slice(0, mark)
}

function nothingHere(): HttpError {
  const message = `sessions are opened at ${SESSION_ROUTE.path}`
  return new HttpError(404, 'not_found', { message })
}

function tooSlow(): LockError {
  return createError('LOCK_ENGINE_UNAVAILABLE', 'the engine took longer than the grace')
}

function isId(text: string): boolean {
  return text.length === ID_BYTES * 2 && /^[0-9a-f]+$/.test(text)
}

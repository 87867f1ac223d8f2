import { randomBytes } from 'node:crypto'
import type { WatchEvent } from '../../engine/engine.ts'
import { createError, isLockError } from '../../engine/errors/errors.ts'
import { GRACE_MS_MAX, ID_BYTES_MAX } from '../../engine/validation/limits.ts'
import type { FrameSocket, FrameSocketEvents } from '../../wire/session/frame-socket.ts'
import { CLOSE_CODES } from '../../wire/session/session-limits.ts'
import type { Hello } from '../../wire/session/session-message.ts'
import type { Timer } from '../../time/clock.ts'
import { SystemClock } from '../../time/system-clock.ts'
import type { Caller } from '../access/access.ts'
import type { ServerContext } from '../server-context.ts'
import { ClientSession } from './client-session.ts'
import { HEARTBEAT_MS_MAX, HEARTBEATS_PER_GRACE, WIND_UP_MS_MAX } from './connection-limits.ts'
import { SessionConnection } from './session-connection.ts'

const ID_BYTES = 16

/** Every session that one server serves, and their connections. */
export class SessionTable {
  readonly #context: ServerContext
  readonly #graceMs: number
  readonly #heartbeatMs: number
  readonly #connections = new Set<SessionConnection>()
  /** By the name that the engine knows. */
  readonly #sessions = new Map<string, ClientSession>()
  /** How to unbind each from the token of its client. */
  readonly #bindings = new WeakMap<ClientSession, () => void>()
  #sweep: Timer
  #sweptAtMs: number
  #isClosed = false

  constructor(context: ServerContext) {
    this.#context = context
    this.#graceMs = Math.min(context.sessionGraceMs, GRACE_MS_MAX)
    const heartbeatMs = Math.ceil(this.#graceMs / HEARTBEATS_PER_GRACE)
    this.#heartbeatMs = Math.min(heartbeatMs, HEARTBEAT_MS_MAX)
    this.#sweptAtMs = context.socketClock.nowMs()
    this.#sweep = this.#setSweep()
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  accept(caller: Caller, open: (events: FrameSocketEvents) => FrameSocket): void {
    const { socketClock, metrics, streams, unsent, limits } = this.#context
    let forget = (): void => {}
    const connection: SessionConnection = new SessionConnection({
      ...{ caller, open },
      metrics: metrics.sessions,
      unsent,
      unsentMax: limits.unsent,
      onFailure: (error) => this.#onFailure(error),
      clock: socketClock,
      graceMs: this.#graceMs,
      heartbeatMs: this.#heartbeatMs,
      takeWatch: () => streams.take(caller.principal.name),
      greet: (hello) => this.#greet(hello, caller),
      onClosed: () => {
        this.#connections.delete(connection)
        forget()
      },
    })
    this.#connections.add(connection)
    forget = caller.credential.onRevoked(() => revoke(connection))
    if (this.#isClosed) dismiss(connection)
  }

  onEvent(event: WatchEvent): void {
    if (event.kind === 'reset') {
      for (const session of this.#sessions.values()) session.onReset()
    } else if (event.session !== undefined) {
      this.#sessions.get(event.session)?.onEvent(event)
    }
  }

  /**
   * Answers what was accepted, and tells clients to come back, here or to another server. What they hold and
   * wait for stands.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#sweep.cancel()
    for (const connection of this.#connections) connection.pause()
    const sessions = [...this.#sessions.values()]
    let onLate = (): void => {}
    const late = new Promise<void>((resolve) => {
      onLate = resolve
    })
    const timer = new SystemClock().setTimer(WIND_UP_MS_MAX, () => onLate())
    await Promise.race([Promise.all(sessions.map((session) => session.settled())), late])
    timer.cancel()
    for (const session of sessions) session.stop()
    this.#sessions.clear()
    for (const connection of this.#connections) dismiss(connection)
  }

  async #greet(hello: Hello, caller: Caller): Promise<ClientSession | undefined> {
    if (this.#isClosed) throw createError('LOCK_ENGINE_CLOSED', 'the server stops')
    const id = hello.session !== undefined && isId(hello.session) ? hello.session : undefined
    const known = id === undefined ? undefined : this.#sessions.get(caller.view.toStored(id))
    if (known !== undefined) {
      if (hello.isHeartbeatOnly !== true) {
        this.#bind(known, caller)
        this.#context.metrics.sessions.resumed.value += 1
        this.#note('resumed', caller.view.toStored(known.id), hello)
      }
      return known
    }
    if (hello.isHeartbeatOnly === true) return undefined
    return this.#open(hello, caller, id)
  }

  async #open(hello: Hello, caller: Caller, id: string | undefined): Promise<ClientSession> {
    const session = this.#create(id ?? randomBytes(ID_BYTES).toString('hex'), caller)
    this.#note('opened', caller.view.toStored(session.id), hello)
    if (id === undefined) return session
    try {
      await session.law.adopt()
    } catch (error) {
      session.abandon('gone')
      throw error
    }
    if (session.isOver) {
      throw createError('LOCK_ENGINE_UNAVAILABLE', 'the engine took longer than the grace')
    }
    return session
  }

  #create(id: string, caller: Caller): ClientSession {
    const { engine, view } = caller
    const { clock, socketClock, sessionGraceMs, log, socketSessions } = this.#context
    const metrics = this.#context.metrics.sessions
    const stored = view.toStored(id)
    const session = new ClientSession({
      ...{ id, engine, view },
      isForAnother: (command) => socketSessions.isForAnother(command, view, id),
      onFailure: (error) => this.#onFailure(error),
      graceMs: this.#graceMs,
      setTimer: (onOver) => clock.setTimer(sessionGraceMs, onOver),
      onEnded: (end) => {
        metrics.ended[end].value += 1
        log.debug('session ended', { session: stored, reason: end })
        if (this.#sessions.get(stored) === session) {
          this.#sessions.delete(stored)
          socketSessions.delete(stored)
        }
        this.#bindings.get(session)?.()
        for (const connection of session.heartbeats) {
          connection.close(CLOSE_CODES.unknownSession, 'the session has ended')
        }
      },
    })
    this.#bind(session, caller)
    // The engine may take its time to know it; its client is not silent meanwhile.
    session.heardAtMs = socketClock.nowMs()
    this.#sessions.set(stored, session)
    socketSessions.add(stored)
    metrics.opened.value += 1
    return session
  }

  /** What waits in the session, and its right to come back, end with the token that its client came with last. */
  #bind(session: ClientSession, { credential }: Caller): void {
    this.#bindings.get(session)?.()
    this.#bindings.set(
      session,
      credential.onRevoked(() => session.abandon('revoked')),
    )
  }

  #onFailure(error: unknown): void {
    const { failures, metrics } = this.#context
    failures.report(error)
    if (isLockError(error, 'LOCK_LIMIT')) metrics.refused('session', 'limit')
  }

  /** The name of a client is for operators alone, so a log is where it goes. */
  #note(what: 'opened' | 'resumed', stored: string, { client }: Hello): void {
    const { log } = this.#context
    log.debug(`session ${what}`, { session: stored, client: client.slice(0, ID_BYTES_MAX) })
  }

  #setSweep(): Timer {
    return this.#context.socketClock.setTimer(this.#heartbeatMs, () => {
      this.#sweep = this.#setSweep()
      this.#dropSilent()
    })
  }

  /** A frozen or cut-off client keeps its socket open; it had its grace while nothing came. */
  #dropSilent(): void {
    const nowMs = this.#context.socketClock.nowMs()
    // A server that was stopped itself has not read yet what arrived meanwhile.
    const wasAwake = nowMs - this.#sweptAtMs < 2 * this.#heartbeatMs
    this.#sweptAtMs = nowMs
    if (!wasAwake) return
    for (const session of this.#sessions.values()) {
      if (nowMs - session.heardAtMs <= this.#graceMs) continue
      const { connection } = session
      connection?.close(CLOSE_CODES.silent, 'nothing was heard')
      session.abandon(connection === undefined ? 'gone' : 'silent')
    }
  }
}

function revoke(connection: SessionConnection): void {
  connection.close(CLOSE_CODES.revoked, 'the token was revoked')
}

function dismiss(connection: SessionConnection): void {
  connection.close(CLOSE_CODES.stopping, 'come back')
}

function isId(text: string): boolean {
  return text.length === ID_BYTES * 2 && /^[0-9a-f]+$/.test(text)
}

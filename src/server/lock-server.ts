import type { Server } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import type { LockEngine } from '../engine/engine.ts'
import { DEFAULT_SETTINGS } from '../engine/validation/default-settings.ts'
import type { LawSettings } from '../law/model/settings.ts'
import type { Clock } from '../time/clock.ts'
import { SystemClock } from '../time/system-clock.ts'
import { assertGuarded, createAccess } from './access/open-access.ts'
import type { TokenEntry } from './access/token-file.ts'
import type { AuditLog } from './observe/audit-log.ts'
import { IdempotencyCache } from './http/idempotency-cache.ts'
import { closePolitely } from './http/close-politely.ts'
import { UnsentBytes } from './http/unsent-bytes.ts'
import { createListener, replaceTls, type TlsMaterial } from './http/listener.ts'
import { RequestHandler } from './http/request-handler.ts'
import { Router } from './http/router.ts'
import { FailureReport } from './observe/failure-report.ts'
import { type Log, NO_LOG } from './observe/log.ts'
import { PresentMetrics } from './observe/present-metrics.ts'
import { ServerMetrics } from './observe/server-metrics.ts'
import { ROUTES } from './routes/routes.ts'
import type { ServerContext } from './server-context.ts'
import { DEFAULT_LIMITS, type Patience, type ServerLimits } from './server-limits.ts'
import { SessionHub } from './sessions/session-hub.ts'
import { EventHub } from './observe/event-hub.ts'
import { OpenStreams } from './observe/open-streams.ts'
import { OperationFeed } from './operations/operation-feed.ts'
import { ReferenceClaims } from './operations/reference-claims.ts'
import { SocketSessions } from './sessions/socket-sessions.ts'
import { StreamSessions } from './sessions/stream-sessions.ts'
import { HeldExchanges } from './sessions/held-exchanges.ts'

export interface LockServerOptions {
  /** Opened and closed by the caller. */
  readonly engine: LockEngine
  /** The law as the engine was opened with; the defaults where it says nothing. */
  readonly settings?: Partial<LawSettings> | undefined
  readonly host?: string | undefined
  /** 0 takes any that is free. */
  readonly port?: number | undefined
  readonly limits?: Partial<ServerLimits> | undefined
  readonly sessionGraceMs?: number | undefined
  readonly clock?: Clock | undefined
  /** Heartbeats and silence on sockets are measured on this one: real time by default. */
  readonly socketClock?: Clock | undefined
  readonly audit?: AuditLog | undefined
  /** Who may do what. Absent: auth is off, and only this machine may be listened to. */
  readonly tokens?: readonly TokenEntry[] | undefined
  readonly tls?: TlsMaterial | undefined
  /** Listen beyond this machine without credentials. */
  readonly insecure?: boolean | undefined
  readonly log?: Log | undefined
  /** Where the metrics go, and what `/metrics` shows with all that is in it already; a new one by default. */
  readonly registry?: Registry | undefined
  /** For slow clients; the default is meant to be kept. */
  readonly patience?: Patience | undefined
}

const HOST_DEFAULT = '127.0.0.1'

/**
 * Connections that the system keeps until they are accepted, as far as it allows so many: a fleet that
 * starts or comes back all at once is not told to try again. Node alone would keep 511.
 */
const BACKLOG = 4_096
const SESSION_GRACE_MS_DEFAULT = 5_000
const EVENTS_KEPT = 8_192

/** An engine that others reach over the network. */
export class LockServer {
  readonly #context: ServerContext
  readonly #http: Server | TlsServer
  readonly #sessions: SessionHub

  private constructor(context: ServerContext, http: Server | TlsServer, sessions: SessionHub) {
    this.#context = context
    this.#http = http
    this.#sessions = sessions
  }

  /** Resolves when the server listens. */
  static async open(options: LockServerOptions): Promise<LockServer> {
    const context = createContext(options)
    const handler = new RequestHandler({ router: new Router(ROUTES), context })
    const sessions = new SessionHub(context)
    const http = createListener({
      context,
      tls: options.tls,
      patience: options.patience,
      onRequest: (request, response) => handler.handle(request, response),
      onUpgrade: (request, socket, head) => sessions.upgrade(request, socket, head),
    })
    await context.events.open(options.engine)
    await context.access.open()
    await new PresentMetrics(context).open()
    await listen(http, options)
    return new LockServer(context, http, sessions)
  }

  get address(): AddressInfo {
    return this.#http.address() as AddressInfo
  }

  get url(): string {
    const { address, family, port } = this.address
    const scheme = 'setSecureContext' in this.#http ? 'https' : 'http'
    return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  }

  /** From now on these tokens count, and no others. Only for a server that was opened with some. */
  replaceTokens(tokens: readonly TokenEntry[]): void {
    this.#context.access.replaceTokens(tokens)
  }

  /** For new connections; those that are open stay. Throws where the material does not fit together. */
  replaceTls(tls: TlsMaterial): void {
    replaceTls(this.#http, tls)
  }

  /**
   * Stop accepting, answer what was accepted, tell those who wait to come back, end streams. Holds stay in the
   * engine, which is the caller's to close.
   */
  async close(): Promise<void> {
    const closed = closePolitely(this.#http)
    this.#context.held.close()
    this.#context.streamSessions.close()
    this.#context.streams.close()
    const dismissed = this.#sessions.close()
    await Promise.all([closed, dismissed])
    await this.#context.events.close()
  }
}

function createContext(options: LockServerOptions): ServerContext {
  const { engine, clock = new SystemClock(), host = HOST_DEFAULT, log = NO_LOG } = options
  const audit: AuditLog = options.audit ?? ((entry) => log.warn('audit', { ...entry }))
  const asksForCertificates = options.tls?.ca !== undefined
  const choices = { ...options, host, asksForCertificates, audit }
  assertGuarded(choices)
  const sessionGraceMs = options.sessionGraceMs ?? SESSION_GRACE_MS_DEFAULT
  const settings = { ...DEFAULT_SETTINGS, ...options.settings }
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const socketClock = options.socketClock ?? new SystemClock()
  const events = new EventHub({
    life: crypto.randomUUID(),
    kept: EVENTS_KEPT,
    nowMs: () => socketClock.nowMs(),
  })
  const { coordination } = settings
  const metrics = new ServerMetrics({
    registry: options.registry ?? new Registry(),
    engine: engine.capabilities.name,
    coordination,
    nowMs: () => clock.nowMs(),
  })
  events.listen((event) => metrics.hear(event))
  const unsent = new UnsentBytes({
    max: limits['unsent-total'],
    onCut: (bytes) => {
      metrics.connectionsCut.inc()
      log.warn('a client was cut: it does not read, and too much waits for all', { bytes })
    },
  })
  return {
    engine,
    clock,
    socketClock,
    settings,
    limits,
    sessionGraceMs,
    events,
    log,
    failures: new FailureReport({ log, metrics, socketClock }),
    metrics,
    unsent,
    access: createAccess({ engine, clock, limits, metrics }, choices),
    held: new HeldExchanges((onOver) => clock.setTimer(sessionGraceMs, onOver)),
    streams: new OpenStreams(limits.streams, unsent),
    operations: new OperationFeed(events, settings.coordination),
    references: new ReferenceClaims(engine, settings.coordination),
    socketSessions: new SocketSessions(),
    streamSessions: new StreamSessions({ clock, graceMs: sessionGraceMs }),
    answers: new IdempotencyCache(clock),
  }
}

function listen(http: Server, { host = HOST_DEFAULT, port = 0 }: LockServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', reject)
    http.listen({ host, port, backlog: BACKLOG }, () => {
      http.off('error', reject)
      resolve()
    })
  })
}

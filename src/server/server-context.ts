import type { LockEngine } from '../engine/engine.ts'
import type { LawSettings } from '../law/model/settings.ts'
import type { Clock } from '../time/clock.ts'
import type { Access } from './access/access.ts'
import type { IdempotencyCache } from './http/idempotency-cache.ts'
import type { UnsentBytes } from './http/unsent-bytes.ts'
import type { FailureReport } from './observe/failure-report.ts'
import type { Log } from './observe/log.ts'
import type { ServerMetrics } from './observe/server-metrics.ts'
import type { ServerLimits } from './server-limits.ts'
import type { EventHub } from './observe/event-hub.ts'
import type { OpenStreams } from './observe/open-streams.ts'
import type { OperationFeed } from './operations/operation-feed.ts'
import type { ReferenceClaims } from './operations/reference-claims.ts'
import type { SocketSessions } from './sessions/socket-sessions.ts'
import type { StreamSessions } from './sessions/stream-sessions.ts'
import type { HeldExchanges } from './sessions/held-exchanges.ts'

/** What everything inside one server shares. */
export interface ServerContext {
  /** The engine itself; routes use the one of their principal. */
  readonly engine: LockEngine
  readonly clock: Clock
  /** Real time, for heartbeats and silence on sockets; leases, graces and patience are on `clock`. */
  readonly socketClock: Clock
  /** The law as this server applies it: coordination, retention, lanes. */
  readonly settings: LawSettings
  readonly limits: ServerLimits
  /** Who asks, and what they may do; sessions go through it as requests do. */
  readonly access: Access
  readonly log: Log
  /** Told of every error that becomes an answer. */
  readonly failures: FailureReport
  /** What is counted as it happens, and the registry of everything that is. */
  readonly metrics: ServerMetrics
  /** What clients have not taken yet, of all that was sent to them. */
  readonly unsent: UnsentBytes
  /** How long a waiter keeps its place, and a stream session its holds, after the connection broke. */
  readonly sessionGraceMs: number
  /** Every change of the engine, told to streams, sessions, metrics. */
  readonly events: EventHub
  /** HTTP requests that are held open while they wait. */
  readonly held: HeldExchanges
  /** Event streams that are open. */
  readonly streams: OpenStreams
  /** How operations end and who is next, for those who listen on a resource. */
  readonly operations: OperationFeed
  /** References of nodes that learn from a stream that their pull is skipped. */
  readonly references: ReferenceClaims
  /** Sessions that no client but their own may open, keep or close. */
  readonly socketSessions: SocketSessions
  /** Sessions of clients that only listen. */
  readonly streamSessions: StreamSessions
  /** Answers that a client may ask for again. */
  readonly answers: IdempotencyCache
}

import type { Capabilities } from '../../engine/capabilities.ts'
import type { WatchEvent, WatchFilter } from '../../engine/engine.ts'
import type { Query } from '../../engine/queries.ts'
import type { Command } from '../../law/model/commands.ts'
import type { Outcome } from '../../law/model/outcomes.ts'
import type { HoldEnd, Namespace } from '../../law/model/view.ts'

/**
 * What a client and a server tell each other. Every message has a number beside its fields. In a request
 * and its answer it is the id of the request, below `OPEN_REQUESTS_MAX`; an id may be used again when its
 * request was answered. In a hello and a welcome the number is the version, in a heartbeat and its answer the
 * time of sending, in an event the number of the watch.
 */

/** The first message of every connection. */
export interface Hello {
  readonly kind: 'hello'
  /** Shown to operators. */
  readonly client: string
  /** The session to come back to; absent for a new one. */
  readonly session?: string | undefined
  /** The connection sends heartbeats for the session and nothing else. */
  readonly isHeartbeatOnly?: boolean | undefined
}

/** Answered with `heard` once the engine has renewed what the session holds. */
export interface Heartbeat {
  readonly kind: 'heartbeat'
}

/** The session ends now, with everything that it holds and waits for. */
export interface Goodbye {
  readonly kind: 'goodbye'
}

export interface Read {
  readonly kind: 'read'
  readonly query: Query
}

/** Its events carry the number that the client gives it. It ends with its connection. */
export interface Watch extends WatchFilter {
  readonly kind: 'watch'
  readonly watch: number
}

export interface Unwatch {
  readonly kind: 'unwatch'
  readonly watch: number
}

/** A request is answered with an outcome, `reply`, `done` or `failed`. */
export type Request = Command | Read | Watch | Unwatch

export type ClientMessage = Hello | Heartbeat | Goodbye | Request

/** The answer to a hello. */
export interface Welcome {
  readonly kind: 'welcome'
  readonly session: string
  /** How long a client that is not heard keeps its places in queues. */
  readonly graceMs: number
  /** How often the client should send a heartbeat. */
  readonly heartbeatMs: number
  /** See `Heard`. */
  readonly losses: number
  readonly capabilities: Capabilities
}

/**
 * The heartbeat that was sent at this time has renewed every hold of the session. `losses` grows with every
 * `lost` of the session, and begins anywhere. A client that has not processed as many yet may take a hold
 * for renewed that was lost.
 */
export interface Heard {
  readonly kind: 'heard'
  readonly losses: number
}

/** A request failed. As a `LockError`, without its stack. */
export interface Failed {
  readonly kind: 'failed'
  readonly code: string
  readonly message: string
  readonly applied: 'no' | 'maybe'
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

export interface Reply {
  readonly kind: 'reply'
  readonly reply: unknown
}

/** A watch or its end is in effect. */
export interface Done {
  readonly kind: 'done'
}

export interface Event {
  readonly kind: 'event'
  readonly event: WatchEvent
}

/**
 * A hold of the session ended without its owner's doing. Without fields: the server cannot say which ones
 * ended, and the client has to ask for each of its holds.
 */
export interface Lost {
  readonly kind: 'lost'
  readonly namespace?: Namespace | undefined
  readonly key?: string | undefined
  readonly owner?: string | undefined
  readonly token?: number | undefined
  readonly end?: HoldEnd | undefined
}

export type ServerMessage = Welcome | Heard | Failed | Reply | Done | Event | Lost | Outcome

export type SessionMessage = ClientMessage | ServerMessage

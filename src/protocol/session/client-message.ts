import type { WatchFilter } from '../../engine/engine.ts'
import type { Query } from '../../engine/queries.ts'
import type { Command } from '../../law/commands.ts'

/**
 * What a client says.
 *
 * Requests (commands, reads, watches) have ids that count up from 1 through the whole session, across
 * its connections. A server that has seen an id never does it again, so a client may send everything
 * again that the welcome says was not seen.
 */

/** The first message of every connection. */
export interface Hello {
  readonly version: number
  /** Shown to operators. */
  readonly client: string
  /** The session to come back to; absent for a new one. */
  readonly session: string | undefined
  /** The number of the last frame that was received in this session; 0 for none. */
  readonly received: number
  /** A connection that only vouches for its session: it sends heartbeats and gets nothing else. */
  readonly pulse: boolean
}

/** A sign of life. It is answered with the same time, once it counts. */
export interface Heartbeat {
  /** When it was sent, on the client's clock; means nothing to the server. */
  readonly sentAtMs: number
  readonly received: number
}

/** Told what is in a frame, message by message, in order. */
export interface ClientFrameHandler {
  /** Commands that say "this session" mean this one. */
  readonly ownSession: string
  hello(hello: Hello): void
  heartbeat(heartbeat: Heartbeat): void
  /** Every frame up to this one has arrived. */
  received(frame: number): void
  /** The session ends now, with all that it holds and waits for. */
  goodbye(): void
  /** `mayAbort`: an `abort` of it may follow. */
  command(id: number, command: Command, mayAbort: boolean): void
  /** Give up the wait of an open request. Its answer says how that went. */
  abort(id: number): void
  read(id: number, query: Query): void
  /** Events of this watch carry its id. */
  watch(id: number, filter: WatchFilter): void
  unwatch(id: number, watch: number): void
}

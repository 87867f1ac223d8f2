import type { Capabilities } from '../../engine/capabilities.ts'
import type { WatchEvent } from '../../engine/engine.ts'
import type { Outcome } from '../../law/outcomes.ts'
import type { HoldEnd, Namespace } from '../../law/view.ts'

/**
 * What a server says.
 *
 * Frames with answers, events and losses are numbered, and kept until the client says that it has
 * received them: after a broken connection they are sent again, and none is missed. Welcomes, beats and
 * the call to come back are about one connection and not numbered.
 */

/** The answer to a hello. */
export interface Welcome {
  readonly version: number
  readonly session: string
  /** How long nothing may be received from the client before the session ends. */
  readonly graceMs: number
  /** How often the client should give a sign of life. */
  readonly heartbeatMs: number
  /** The server remembers the requests of this session; none that it has seen needs to be sent again. */
  readonly resumed: boolean
  /** What was held in this session still is. */
  readonly kept: boolean
  /** The highest request id that was seen. */
  readonly lastId: number
  readonly capabilities: Capabilities
}

/** A request failed. As a `LockError`, without its stack. */
export interface Failure {
  readonly code: string
  readonly message: string
  readonly applied: 'no' | 'maybe'
  readonly details: Readonly<Record<string, unknown>>
}

/** A hold of this session ended without its owner's doing. */
export interface Lost {
  readonly namespace: Namespace
  readonly key: string
  readonly owner: string
  readonly token: number
  readonly end: HoldEnd
}

export interface ServerFrameHandler {
  welcome(welcome: Welcome): void
  /** The number of this frame. False if it was received before: the rest of it is not read. */
  frame(number: number): boolean
  /** The heartbeat that was sent at this time counts. */
  beat(sentAtMs: number): void
  outcome(id: number, outcome: Outcome): void
  failure(id: number, failure: Failure): void
  reply(id: number, reply: unknown): void
  /** A watch or its end is in effect. */
  done(id: number): void
  event(watch: number, event: WatchEvent): void
  lost(lost: Lost): void
  /** The session had ended in the engine: everything that was held in it is lost. */
  over(): void
  /** The server stops: connect again, here or to another. Requests after the last id it has not seen. */
  comeBack(lastId: number | undefined): void
}

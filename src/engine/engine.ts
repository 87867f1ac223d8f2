import type { Command } from '../law/model/commands.ts'
import type { LawEvent } from '../law/model/events.ts'
import type { OutcomeOf } from '../law/model/outcomes.ts'
import type { HoldEnd } from '../law/model/view.ts'
import type { Capabilities } from './capabilities.ts'
import type { Query, ReplyOf } from './queries.ts'

/**
 * The contract of an engine: a place where the law is applied. It has five members; everything that
 * people call is built on them.
 *
 * An engine decides nothing by itself. It shows the law a view of a key, applies the changes in one
 * atomic step, tells waiters, and sees to it that what has expired ends without anyone asking.
 */
export interface LockEngine extends AsyncDisposable {
  /** What this engine promises beyond the law, and what it cannot. Does not change. */
  readonly capabilities: Capabilities

  /**
   * Where the engine is on the other side of a connection that it keeps alive: the session of that
   * connection. Absent where there is nothing to be cut off from.
   */
  readonly session?: EngineSession | undefined

  /**
   * Apply one command.
   *
   * Before: the command is well formed; otherwise it fails with an `InvalidArgumentError` and nothing
   * changed.
   *
   * After: the outcome is true and, where the engine is durable, on stable storage. Contention is an
   * outcome, never an error. Commands of one caller may overlap; those on one key take effect one
   * after the other, in the order in which they were given to this engine.
   *
   * Waiting: an `acquire` with `waitMs` above 0 and without `detach` stays open until it is granted or
   * refused; never `queued`. A `begin` with `waitMs` above 0 stays open until it is settled or that time
   * has passed; then it is `queued` and keeps its place. Asking again with the same request id while
   * the first call is open moves the wait to the newer call; the older one is answered the same.
   *
   * `signal` ends a wait: the place in the queue is given up, and a grant that was made but not yet
   * delivered is undone, before the promise rejects with an `AbortedError`. A command that does not
   * wait is not interrupted. An already aborted signal changes nothing.
   *
   * An outcome that is there at once is returned as it is; one that takes time is returned as a promise.
   *
   * Failure: never throws; returns a promise that rejects with a `LockError` whose `applied` says `no` or
   * `maybe`. After `maybe`, send the same command again with the same request id; it takes effect at most
   * once.
   */
  apply<C extends Command>(command: C, options?: ApplyOptions): Answer<C>

  /**
   * Read the state, as it is after every command that was answered before the call, with nothing in
   * it that has expired. Changes nothing. Throws as `apply` does.
   */
  read<Q extends Query>(query: Q): Promise<ReplyOf<Q>>

  /**
   * Be told of changes on keys that match. When the promise resolves, every later change will be
   * told, in the order in which it happened on its key. The listener must not throw and is not
   * waited for. If the engine loses track it says `reset` once: read the state again.
   */
  watch(filter: WatchFilter, listener: WatchListener): Promise<Watching>

  /**
   * Stop. Open requests are refused with an `UnavailableError` (`applied: 'no'`), holds and references
   * stay in the store. Idempotent. Every timer, file and socket of the engine is closed when it
   * resolves.
   */
  close(): Promise<void>
}

/**
 * The session of an engine's own connection. Its heartbeats renew every hold that was asked for in its name,
 * each for its own ttl. Times are on the monotonic clock of this process.
 */
export interface EngineSession {
  /** To be named in commands. The same for the life of the engine. */
  readonly id: string
  /** How often a heartbeat is sent. */
  readonly heartbeatMs: number
  /** The shortest lease that heartbeats keep: some of them may be lost. */
  readonly ttlMsMin: number
  /**
   * When the latest heartbeat was sent that counts. Never goes back. It has renewed what was held in the
   * session when it was sent, unless a loss was told.
   */
  readonly confirmedAtMs: number
  /**
   * Something is held for longer than a moment: from now on heartbeats are sent even while the main thread of
   * this process is busy, as far as that is possible. Idempotent.
   */
  useThread(): void
  /** Be told of what ended without its owner's doing. Returns how to stop. The listener must not throw. */
  onLoss(listener: SessionLossListener): () => void
}

/**
 * One hold; or, after the connection was made anew, it is not known what was lost: no heartbeat counts for a
 * hold that was granted before, until the engine was asked for it.
 */
export type SessionLoss =
  | {
      readonly kind: 'hold'
      readonly namespace: 'lock' | 'operation'
      readonly key: string
      readonly owner: string
      readonly token: number
      readonly end: HoldEnd
    }
  | { readonly kind: 'unknown' }

export type SessionLossListener = (loss: SessionLoss) => void

/** What `apply` returns: the outcome, or a promise of it. */
export type Answer<C extends Command> = OutcomeOf<C> | Promise<OutcomeOf<C>>

export interface ApplyOptions {
  readonly signal?: AbortSignal | undefined
}

export interface WatchFilter {
  /** Keys that begin with these bytes; all when absent. */
  readonly prefix?: string | undefined
  readonly namespace?: 'lock' | 'operation' | undefined
}

/** `id` is opaque and grows; `atMs` is the time of day, for people. */
export type WatchEvent =
  | (LawEvent & { readonly id: number; readonly atMs: number })
  | { readonly kind: 'reset'; readonly id: number; readonly atMs: number }

export type WatchListener = (event: WatchEvent) => void

export interface Watching extends AsyncDisposable {
  /** Stop listening. Idempotent. */
  close(): Promise<void>
}

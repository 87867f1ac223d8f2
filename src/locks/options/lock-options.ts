import type { Coordination } from '../../law/model/settings.ts'
import type { Mode, Namespace } from '../../law/model/view.ts'
import type { Clock } from '../../time/clock.ts'
import type { Duration } from './durations.ts'
import type { TlsOptions } from './tls-options.ts'

/** How a `Locks` presents itself and what it does unless a call says otherwise. */
export interface LocksOptions {
  /**
   * A name for people, such as `billing-3`. It is the first part of every owner that is shown to
   * others; a random part follows, so that two processes of one name are never taken for one owner.
   */
  readonly owner?: string | undefined
  /** The node in whose name operations run. Default: `owner`, or else a random name. */
  readonly node?: string | undefined
  /** The lease of a lock or operation that asks for none. Default 10 s. */
  readonly ttl?: Duration | undefined
  /**
   * Follow each task through its asynchronous calls. A `withLock` inside another then belongs to the same
   * task, and one that waits for itself, or for a task that waits for it, is refused with `LOCK_DEADLOCK`
   * where the engine sees deadlocks. Default false: on Node 20 following costs every promise of the process.
   */
  readonly followTasks?: boolean | undefined
}

/** For `createLocks`: what a test or simulator replaces. */
export interface CreateLocksOptions extends LocksOptions {
  /** Default: the clock of this process. */
  readonly clock?: Clock | undefined
  /** From 0 up to 1, for names and jitter. Default: from `node:crypto`. */
  readonly random?: (() => number) | undefined
}

/**
 * How locks behave, for engines that decide in this process: `memory:`, `file:` and databases. All processes
 * on one database should say the same. A lock server has settings of its own, and these are ignored.
 */
export interface LawOptions {
  /** Lane names, first served first. A request without a lane is in the last. */
  readonly lanes?: readonly string[] | undefined
  /** Who coordinates operations that do not say it themselves. Default `server`. */
  readonly coordination?: Coordination | undefined
  /** Off: an operation on a busy resource is refused instead of queued. Default on. */
  readonly multiNode?: boolean | undefined
  /** On: an `update` is refused while any node references the resource. Default off. */
  readonly updateRequiresNoRef?: boolean | undefined
  /** How long the success of an operation is remembered. Default 5 minutes. */
  readonly retention?: Duration | undefined
  /** How long a queued operation that only asks now and then keeps its place. Default 90 s. */
  readonly waiterPatience?: Duration | undefined
  /** How long such an operation has to take its turn when it has come. Default 10 s. */
  readonly claimWindow?: Duration | undefined
  /** Waiters that one key takes. Default 10,000. */
  readonly waitersPerKeyMax?: number | undefined
}

/** What `memory:` and `file:` can be told besides. Other engines have no use for it and ignore it. */
export interface EmbeddedOptions {
  /** Parts that the keys are divided into. Default 32. */
  readonly shards?: number | undefined
  /**
   * Keep who held what until when, for `history`. Default off, and then it costs nothing. A database and a
   * lock server always do.
   */
  readonly history?: boolean | undefined
}

/** What a connection to a lock server (`http:`, `https:`) can be told. */
export interface RemoteOptions extends TlsOptions {
  /** Sent as a bearer token. */
  readonly token?: string | undefined
  /**
   * Over a session of a lock server: whether a worker thread sends heartbeats while the main thread of this
   * process is busy. By default it does, once a lock has been held for a moment.
   */
  readonly heartbeatThread?: boolean | undefined
}

export interface ConnectOptions extends LocksOptions, LawOptions, EmbeddedOptions, RemoteOptions {}

/** How long a call is willing to wait, and what ends the wait early. */
export interface WaitOptions {
  /**
   * Give up after this long with a `TimeoutError` (`LOCK_WAIT_TIMEOUT`). `0` does not wait.
   * Default: wait until it is granted or `signal` aborts.
   */
  readonly wait?: Duration | undefined
  /** Ends the wait with an `AbortedError` (`LOCK_ABORTED`). Has no effect on a lock that is held. */
  readonly signal?: AbortSignal | undefined
}

/** What a lock is asked for with, apart from waiting. */
export interface TryAcquireOptions {
  /** `write` is exclusive, `read` is shared among readers. Default `write`. */
  readonly mode?: Mode | undefined
  /** How long the lock outlives a holder that is not heard of. Default 10 s. */
  readonly ttl?: Duration | undefined
  /** Renew the lease while the lock is held. Default true. */
  readonly renew?: boolean | undefined
  /**
   * Hold in the name of this owner. A second lock of the same owner on the same key is granted at once
   * (re-entry). The handles of one owner share one hold with its lease and token. Default: a new owner
   * for every lock, so that re-entry does not happen by accident.
   */
  readonly owner?: string | undefined
  /** The lane to queue in, where the engine has lanes. */
  readonly lane?: string | undefined
  /** Shown to operators who ask who holds this and why; at most 1 KiB as JSON. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined
}

export interface AcquireOptions extends TryAcquireOptions, WaitOptions {}

export interface OnceOptions extends WaitOptions {
  /** Only a success of the same version counts, or one without a version if this names none. */
  readonly version?: string | undefined
  /** How long the work outlives a runner that is not heard of. Default 10 s; it is renewed. */
  readonly ttl?: Duration | undefined
}

export interface BeginOptions extends WaitOptions {
  /** In whose name the operation runs. Default: the node of this `Locks`. */
  readonly node?: string | undefined
  /** Only a success of the same version leads to a skip, or one without a version if this names none. */
  readonly version?: string | undefined
  /** How long the operation outlives a node that is not heard of. Default 10 s. */
  readonly ttl?: Duration | undefined
  /** Renew the lease while the operation runs. Default true. */
  readonly renew?: boolean | undefined
  /** The lane to queue in. Default: the one that is named like the type, if there is one. */
  readonly lane?: string | undefined
  /** Default: as the engine was configured. */
  readonly coordination?: Coordination | undefined
  /** Shown to operators; at most 1 KiB as JSON. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined
}

/** A `begin` that does not wait: on a busy resource it joins the queue and returns. */
export interface BeginNowOptions extends BeginOptions {
  readonly wait: 0
}

export interface UnrefOptions {
  /** Default: every resource that the node references. */
  readonly resource?: string | undefined
  /** Default: the node of this `Locks`. */
  readonly node?: string | undefined
}

export interface ListOptions {
  /** Keys that begin with this. */
  readonly prefix?: string | undefined
  /** Keys that this owner holds or waits for. */
  readonly owner?: string | undefined
  /** Only locks, or only operations. Default both. */
  readonly kind?: Namespace | undefined
  /** At most 1,000. Default 100. */
  readonly limit?: number | undefined
  /** Where the page before ended. */
  readonly cursor?: string | undefined
}

export interface InspectOptions {
  /** `operation` for a resource. Default `lock`. */
  readonly kind?: Namespace | undefined
  /** How much of the queue to show. Default 100. */
  readonly queueLimit?: number | undefined
}

export interface HistoryOptions {
  /** Of this key only. Default: of every key. */
  readonly key?: string | undefined
  /** Only locks, or only operations. Default both. */
  readonly kind?: Namespace | undefined
  /** At most 1,000. Default 100. */
  readonly limit?: number | undefined
}

export interface WatchOptions {
  /** Keys that begin with this. */
  readonly prefix?: string | undefined
  /** Only locks, or only operations. Default both. */
  readonly kind?: Namespace | undefined
  /** Ends the watch. */
  readonly signal?: AbortSignal | undefined
}

export interface ForceReleaseOptions {
  /** End only this owner's hold. Default: every hold. */
  readonly owner?: string | undefined
  /** `operation` for a resource. Default `lock`. */
  readonly kind?: Namespace | undefined
}

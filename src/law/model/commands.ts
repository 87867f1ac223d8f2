import type { Coordination } from './settings.ts'
import type { Mode, Namespace } from './view.ts'

/**
 * Everything that can be asked of the law. Optional fields that are absent take the default of the
 * settings. Every command of a client can be sent again after a lost answer.
 */

/** Ask for a lock. */
export interface Acquire {
  readonly kind: 'acquire'
  readonly key: string
  readonly owner: string
  /** One logical request; the same on every retry. */
  readonly requestId: string
  readonly mode?: Mode | undefined
  readonly ttlMs?: number | undefined
  /** 0 (the default) never waits; `Infinity` waits until cancelled. */
  readonly waitMs?: number | undefined
  /** Answer `queued` at once and keep the place by asking again, instead of holding the request open. */
  readonly detach?: boolean | undefined
  readonly party?: string | undefined
  readonly lane?: string | undefined
  readonly session?: string | undefined
  /** JSON text shown to operators. */
  readonly meta?: string | undefined
}

/** Give up one step of a hold. Without a mode the write count goes down first. */
export interface Release {
  readonly kind: 'release'
  readonly key: string
  readonly owner: string
  readonly mode?: Mode | undefined
  readonly token?: number | undefined
  readonly requestId?: string | undefined
}

/** Make a lease later. Never shortens, never revives. */
export interface Renew {
  readonly kind: 'renew'
  readonly key: string
  readonly owner: string
  readonly ttlMs: number
  readonly token?: number | undefined
}

/**
 * Why a wait is given up: its owner no longer wants it, or the connection to the owner was lost.
 * In the second case the owner may still want it, and asks anew when it is back.
 */
export type CancelReason = 'cancelled' | 'abandoned'

/** A key: the name of a lock, or of a resource. */
interface AnyKey {
  readonly key: string
  /** `operation` for a resource; a lock otherwise. */
  readonly namespace?: Namespace | undefined
}

/**
 * Leave the queue, and undo a grant that the owner has not taken. A request that its owner cancels by its id is
 * undone even if the owner was told of the grant. Without a request id: every request of the owner on this key.
 */
export interface Cancel extends AnyKey {
  readonly kind: 'cancel'
  /** Of an operation, `TYPE:NODE`. */
  readonly owner: string
  readonly requestId?: string | undefined
  /** `cancelled` when absent. */
  readonly reason?: CancelReason | undefined
}

/** End holds by an operator's word: one owner's, or all. */
export interface Force extends AnyKey {
  readonly kind: 'force'
  readonly owner?: string | undefined
}

/** Ask to run an operation on a resource. */
export interface Begin {
  readonly kind: 'begin'
  readonly type: string
  readonly resource: string
  readonly node: string
  readonly version?: string | undefined
  readonly requestId?: string | undefined
  readonly ttlMs?: number | undefined
  /** Hold the request open for this long; the place is kept when it passes. 0 answers at once. */
  readonly waitMs?: number | undefined
  readonly lane?: string | undefined
  readonly session?: string | undefined
  readonly coordination?: Coordination | undefined
  readonly meta?: string | undefined
}

/** Say how an operation ended, and release its resource, in one step. */
export interface Finish {
  readonly kind: 'finish'
  readonly type: string
  readonly resource: string
  readonly node: string
  readonly success: boolean
  readonly error?: string | undefined
  /** JSON text for those who skip. */
  readonly value?: string | undefined
  readonly token?: number | undefined
  readonly requestId?: string | undefined
  readonly coordination?: Coordination | undefined
}

/** Drop a node's reference to one resource, or to all of them. */
export interface Unref {
  readonly kind: 'unref'
  readonly resource?: string | undefined
  readonly node: string
}

/** Open a session, or come back to it. */
export interface OpenSession {
  readonly kind: 'open-session'
  readonly session: string
  readonly graceMs: number
  /** Default true: a heartbeat of the client renews the leases of its holds. */
  readonly keepsLeases?: boolean | undefined
}

/** Something was received from the session's client. */
export interface TouchSession {
  readonly kind: 'touch-session'
  readonly session: string
}

/** A spoken good-bye: the session ends now, its holds and waiters with it. */
export interface CloseSession {
  readonly kind: 'close-session'
  readonly session: string
}

/** Remove everything that has expired, everywhere. */
export interface Sweep {
  readonly kind: 'sweep'
}

export type SessionCommand = OpenSession | TouchSession | CloseSession

/** What callers of an engine may ask. */
export type Command =
  | Acquire
  | Release
  | Renew
  | Cancel
  | Force
  | Begin
  | Finish
  | Unref
  | SessionCommand
  | Sweep

/** Decided on one key because time passed, without a request. */
export interface Expire {
  readonly kind: 'expire'
}

/**
 * Decided on each key of a session that ended, or whose client was silent for the grace. A session that is
 * not in the view has ended.
 */
export interface Leave {
  readonly kind: 'leave'
  readonly session: string
  /** So many waiters at most, where the rest is asked for later; all when absent. */
  readonly atMost?: number | undefined
}

/**
 * Decided when the last call that was held open for an operation has ended and the waiter keeps its place:
 * from now on it only asks now and then. An owner has one place on a resource, whatever its request ids.
 */
export interface HangUp {
  readonly kind: 'hang-up'
  readonly owner: string
}

/**
 * Decided when the process that holds a call open has heard of a grant made elsewhere: it tells the owner
 * now, or has the grant undone if that fails. The owner need not claim it in time.
 */
export interface Entrust {
  readonly kind: 'entrust'
  readonly owner: string
  /** Absent for an operation, which has one standing whatever its request id. */
  readonly requestId: string | undefined
}

/** What is decided on one key. */
export type KeyCommand =
  | Exclude<Command, SessionCommand | Sweep>
  | Expire
  | Leave
  | HangUp
  | Entrust

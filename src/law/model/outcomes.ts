import type { Command } from './commands.ts'
import type { HoldEnd, Mode } from './view.ts'

/**
 * What the law answers. Every ordinary answer is a value, refusals included; nothing here is an error.
 * Durations are what was left on the engine's clock when the answer was made.
 */

export interface Granted {
  readonly kind: 'granted'
  readonly mode: Mode
  readonly token: number
  readonly reads: number
  readonly writes: number
  readonly leaseMs: number
}

/** Waiting; `position` 1 is next. */
export interface Queued {
  readonly kind: 'queued'
  readonly position: number
}

/** The work is already done, with the value it left. */
export interface Skip {
  readonly kind: 'skip'
  readonly value: string | undefined
}

/** Another node did the work and the queue of that type was dissolved: the node looks for itself. */
export interface Dissolved {
  readonly kind: 'dissolved'
  readonly node: string
}

export interface Released {
  readonly kind: 'released'
  readonly reads: number
  readonly writes: number
}

export interface Renewed {
  readonly kind: 'renewed'
  readonly token: number
  readonly leaseMs: number
}

/** `cancelled` is false when there was nothing to cancel; the request will never hold all the same. */
export interface Cancelled {
  readonly kind: 'cancelled'
  readonly cancelled: boolean
}

export interface Finished {
  readonly kind: 'finished'
  readonly success: boolean
}

export interface Forced {
  readonly kind: 'forced'
  readonly count: number
}

/** `count` is how many nodes still reference the resource; 0 when all of a node's were dropped. */
export interface Unreferenced {
  readonly kind: 'unreferenced'
  readonly removed: number
  readonly count: number
}

/** `resumed`: the session was known. What has run out or left meanwhile is not in it any more. */
export interface SessionOpened {
  readonly kind: 'session-opened'
  readonly resumed: boolean
}

export interface SessionTouched {
  readonly kind: 'session-touched'
}

export interface SessionClosed {
  readonly kind: 'session-closed'
  /** Holds and waiters that ended with it. */
  readonly ended: number
}

export interface Swept {
  readonly kind: 'swept'
  readonly count: number
}

/**
 * - `held`: another owner has it, or is ahead in the queue, and the request does not wait.
 * - `timeout`: the wait's deadline passed. `cancelled`: it was cancelled. `abandoned`: its
 *   client was not heard from for too long, or its connection broke. `disconnected`: its session ended, or the
 *   client of the session was silent for the grace.
 * - `upgrade_conflict`: another holder already waits to upgrade. `deadlock`: waiting would close a cycle.
 * - `not_holder`, `stale_token`: the caller does not hold it, or holds it under another token.
 * - `ended`: a replay of a request that was granted and has ended since; see `end`.
 * - `in_use`: nodes still reference the resource.
 * - `no_session`: no such session, or it has ended.
 * - `bad_request`: the request contradicts itself or its own earlier self; see `detail`.
 * - `limit`: a bound was reached; see `detail`.
 */
export type RefusalCode =
  | 'held'
  | 'timeout'
  | 'cancelled'
  | 'abandoned'
  | 'disconnected'
  | 'upgrade_conflict'
  | 'deadlock'
  | 'not_holder'
  | 'stale_token'
  | 'ended'
  | 'in_use'
  | 'no_session'
  | 'bad_request'
  | 'limit'

/** One holder, as shown to those who are refused. */
export interface HolderShown {
  readonly owner: string
  readonly mode: Mode
  readonly token: number
  readonly heldMs: number
  readonly leaseMs: number
}

export interface Refused {
  readonly kind: 'refused'
  readonly code: RefusalCode
  /** The present holders, at most `HOLDERS_SHOWN_MAX`; with `held`, `timeout` and `upgrade_conflict`. */
  readonly holders?: readonly HolderShown[]
  /** The parties of the cycle, the asking one first; with `deadlock`. */
  readonly cycle?: readonly string[]
  /** The nodes that reference the resource; with `in_use`. */
  readonly nodes?: readonly string[]
  /** How the hold ended; with `ended`, and with `not_holder` where the owner's last end is remembered. */
  readonly end?: HoldEnd
  readonly detail?: string
}

export type Outcome =
  | Granted
  | Queued
  | Skip
  | Dissolved
  | Released
  | Renewed
  | Cancelled
  | Finished
  | Forced
  | Unreferenced
  | SessionOpened
  | SessionTouched
  | SessionClosed
  | Swept
  | Refused

/** What each command can be answered, apart from a refusal. */
interface Answers {
  readonly acquire: Granted | Queued
  readonly release: Released
  readonly renew: Renewed
  readonly cancel: Cancelled
  readonly begin: Granted | Queued | Skip | Dissolved
  readonly finish: Finished
  readonly force: Forced
  readonly unref: Unreferenced
  readonly 'open-session': SessionOpened
  readonly 'touch-session': SessionTouched
  readonly 'close-session': SessionClosed
  readonly sweep: Swept
}

/** The outcomes of one command. */
export type OutcomeOf<C extends Command> = Answers[C['kind']] | Refused

import type { Outcome } from './outcomes.ts'
import type { Ended, Hold, HoldEnd, Reference, Remembered, Waiter } from './view.ts'

/**
 * What a decision changes on its key, in order. An engine applies all of them in one atomic step, or
 * none; it decides nothing itself.
 */

/** The owner's hold is now this. `token` above the key's raises the key's. */
export interface HoldSet {
  readonly kind: 'hold-set'
  readonly hold: Hold
  /** Nothing but the lease moved, and not its length: a restart would give at least as much anyway. */
  readonly leaseOnly: boolean
}

export interface HoldEnded {
  readonly kind: 'hold-ended'
  readonly hold: Hold
  readonly end: HoldEnd
}

/** A new waiter stands at the tail of its lane, or of the upgraders. */
export interface WaiterAdded {
  readonly kind: 'waiter-added'
  readonly waiter: Waiter
}

/** A waiter keeps its place; its lease, deadline or connection changed. */
export interface WaiterKept {
  readonly kind: 'waiter-kept'
  readonly before: Waiter
  readonly waiter: Waiter
}

/** A waiter left. An open call for its request is answered with `answer`. */
export interface WaiterGone {
  readonly kind: 'waiter-gone'
  readonly waiter: Waiter
  readonly answer: Outcome
}

/** The end of a request is to be remembered. */
export interface EndRemembered {
  readonly kind: 'end-remembered'
  readonly ended: Ended
  /** It matters only while this process lives: nothing was granted by the request. */
  readonly volatile: boolean
}

export interface LanePassed {
  readonly kind: 'lane-passed'
  readonly lane: number
  readonly passes: number
}

/** The node's reference is now this. */
export interface ReferenceSet {
  readonly kind: 'reference-set'
  readonly reference: Reference
}

export interface ReferenceDropped {
  readonly kind: 'reference-dropped'
  readonly node: string
}

export interface SuccessRemembered {
  readonly kind: 'success-remembered'
  readonly remembered: Remembered
}

export interface SuccessForgotten {
  readonly kind: 'success-forgotten'
  readonly type: string
}

export type Change =
  | HoldSet
  | HoldEnded
  | WaiterAdded
  | WaiterKept
  | WaiterGone
  | EndRemembered
  | LanePassed
  | ReferenceSet
  | ReferenceDropped
  | SuccessRemembered
  | SuccessForgotten

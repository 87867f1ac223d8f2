import type { Hold, Waiter } from './view.ts'

/**
 * What a decision has changed so far beyond one hold, laid over the view. Made when first needed: the
 * ordinary acquire and release never do.
 */
export class DraftOverlay {
  /** By owner; `undefined` for a hold that ended. */
  readonly holds: Map<string, Hold | undefined> = new Map()
  /** Waiters of the view that have left their place. */
  readonly gone: Set<Waiter> = new Set()
  /** By lane: the first waiter that has not gone. Only ever moves back in the lane. */
  readonly heads: (Waiter | undefined)[] = []
  readonly passes: number[] = []
}

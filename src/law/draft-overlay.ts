import { SmallMap } from './small-map.ts'
import type { Hold, Waiter } from './model/view.ts'

/**
 * What a decision has changed so far beyond one hold, laid over the view. Made when first needed: the
 * ordinary acquire and release never do, and a hand-over touches one more hold, one waiter and one lane.
 */
export class DraftOverlay {
  /** By owner; `undefined` for a hold that ended. */
  readonly holds: SmallMap<string, Hold | undefined> = new SmallMap()
  /** Waiters of the view that have left their place. */
  readonly gone: SmallMap<Waiter, true> = new SmallMap()
  /** By lane: the first waiter that has not gone. Only ever moves back in the lane. */
  readonly heads: SmallMap<number, Waiter | undefined> = new SmallMap()
  readonly passes: number[] = []
}

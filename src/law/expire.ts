import { dismiss } from './answers.ts'
import { undoSteps } from './cancel.ts'
import type { Draft } from './draft.ts'
import { copyHold, leaseAtMsOf, showHolders } from './hold-steps.ts'
import { moveQueue } from './queue.ts'
import { endByOthers } from './release.ts'
import type { Hold, Waiter } from './model/view.ts'

/**
 * What comes before every command on a key, and by itself when time passes: holds whose lease has
 * passed, grants that were not taken in time, and waiters that gave up or vanished are gone, and the
 * queue moves. Returns how many there were.
 */
export function expire(draft: Draft): number {
  if (!draft.view.hasDue(draft.nowMs)) return 0
  let count = 0
  for (const hold of draft.view.dueHolds(draft.nowMs)) if (expireHold(draft, hold)) count += 1
  for (const waiter of draft.view.dueWaiters(draft.nowMs)) {
    if (expireWaiter(draft, waiter)) count += 1
  }
  if (draft.view.namespace === 'operation') {
    forgetResource(draft)
  }
  if (count > 0) moveQueue(draft)
  return count
}

/** What a resource remembers for a while: successes, and references that their nodes do not know of. */
function forgetResource({ view, resource, nowMs }: Draft): void {
  resource.forgetWhere(({ untilMs }) => untilMs <= nowMs)
  for (const { node, claimByMs } of [...view.dueReferences(nowMs)]) {
    if (claimByMs !== null && claimByMs <= nowMs) resource.dropReference(node)
  }
}

function expireHold(draft: Draft, hold: Hold): boolean {
  const leaseAtMs = leaseAtMsOf(draft.view, hold)
  if (leaseAtMs <= draft.nowMs) {
    endByOthers(draft, hold, 'expired')
    return true
  }
  // The session has heard from its client since: the lease moves before anything else is looked at.
  if (leaseAtMs > hold.leaseAtMs) draft.setHold(copyHold(hold, { leaseAtMs }), true)
  return undoSteps(draft, hold.owner, {
    end: 'unclaimed',
    which: ({ claimByMs }) => claimByMs !== null && claimByMs <= draft.nowMs,
  })
}

/** A waiter may have left already with the hold that it wanted to upgrade. */
function expireWaiter(draft: Draft, waiter: Waiter): boolean {
  if (draft.isGone(waiter)) return false
  if (waiter.deadlineAtMs <= draft.nowMs) {
    dismiss(draft, waiter, { kind: 'refused', code: 'timeout', holders: showHolders(draft) })
    return true
  }
  if (waiter.leaseAtMs > draft.nowMs) return false
  dismiss(draft, waiter, { kind: 'refused', code: 'abandoned' })
  return true
}

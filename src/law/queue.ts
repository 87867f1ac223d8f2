import type { Draft } from './draft.ts'
import { dismiss } from './answers.ts'
import { type Claim, grantClaim, showHolders } from './hold-steps.ts'
import { LANE_PASSES_MAX, STEPS_PER_HOLD_MAX } from './model/limits.ts'
import { decideOperationHead } from './operation-head.ts'
import type { Refused } from './model/outcomes.ts'
import type { LawSettings } from './model/settings.ts'
import type { Hold, Waiter } from './model/view.ts'

/**
 * How the queue moves: after any change, while the head can be granted it is granted. A waiting upgrader
 * comes first, then lanes in their order, first come first served inside a lane; readers that stand
 * together at the head are granted together, because after each grant the next head is looked at.
 */
export function moveQueue(draft: Draft): void {
  while (draft.queueLength > 0) {
    const upgrader = draft.upgraders[0]
    if (upgrader !== undefined) {
      if (draft.holdCount > 1) return
      grantWaiter(draft, upgrader)
      continue
    }
    const head = nextHead(draft)
    if (head === undefined) return
    const { operation, connected: isTold } = head
    if (operation !== undefined) {
      const answer =
        draft.holdCount > 0 ? undefined : decideOperationHead(draft, { operation, isTold })
      if (answer !== undefined) {
        dismiss(draft, head, answer)
        continue
      }
    }
    if (!isCompatible(draft, head)) return
    grantWaiter(draft, head)
  }
}

/** Whether a claim of an owner without a hold fits beside every present hold. */
export function isCompatible(draft: Draft, claim: Pick<Claim, 'mode'>): boolean {
  if (claim.mode === 'write') return draft.holdCount === 0
  return draft.writer === undefined && draft.holdCount < draft.view.settings.holdersPerKeyMax
}

/**
 * The lane whose turn it is: one that was passed too often, else the first that has a waiter. Of two
 * that were passed equally often the lower goes first, because the grant of the other would pass it.
 */
function nextHead(draft: Draft): Waiter | undefined {
  const lanes = laneCount(draft.view.settings)
  if (lanes === 1) return draft.head(0)
  let first: Waiter | undefined
  let passedOver: Waiter | undefined
  let passesMost = LANE_PASSES_MAX
  for (let lane = 0; lane < lanes; lane += 1) {
    const head = draft.head(lane)
    if (head === undefined) continue
    first ??= head
    if (draft.passes(lane) >= passesMost) {
      passedOver = head
      passesMost = draft.passes(lane)
    }
  }
  return passedOver ?? first
}

function laneCount(settings: LawSettings): number {
  return Math.max(1, settings.lanes.length)
}

/** Whether a request that joins a lane now would be the next to be served. */
export function isNextInLine(draft: Draft, lane: number): boolean {
  if (draft.upgraders.length > 0) return false
  const next = nextHead(draft)
  return next === undefined || (next.lane > lane && draft.passes(next.lane) < LANE_PASSES_MAX)
}

/** A grant from a lane passes every lower one that has a waiter. */
export function countPasses(draft: Draft, granted: number): void {
  const lanes = laneCount(draft.view.settings)
  if (lanes === 1) return
  if (draft.passes(granted) > 0) draft.setPasses(granted, 0)
  for (let lane = granted + 1; lane < lanes; lane += 1) {
    if (draft.head(lane) !== undefined) draft.setPasses(lane, draft.passes(lane) + 1)
  }
}

/** Grant a waiter that stands at the head, then look again at what else its owner asked for. */
function grantWaiter(draft: Draft, waiter: Waiter): void {
  const hold = draft.hold(waiter.owner)
  settle(draft, waiter, hold)
  if (!waiter.upgrade) countPasses(draft, waiter.lane)
  decideAgain(draft, waiter.owner)
}

/** The owner holds now: its other entries are decided by the rules for holders. */
export function decideAgain(draft: Draft, owner: string): void {
  for (const waiter of draft.waitersOf(owner)) {
    const hold = draft.hold(owner)
    if (hold === undefined) return
    const answer = decideForHolder(draft, hold, waiter)
    if (answer === 'grant') settle(draft, waiter, hold)
    else if (answer !== 'wait') dismiss(draft, waiter, answer)
    else if (!waiter.upgrade) draft.keepWaiter(waiter, { ...waiter, upgrade: true })
  }
}

/** What the rules for an owner that already holds say: rule 1 of acquire. */
export function decideForHolder(
  draft: Draft,
  hold: Hold,
  claim: Claim,
): 'grant' | 'wait' | Refused {
  if (hold.steps.length >= STEPS_PER_HOLD_MAX) {
    return {
      kind: 'refused',
      code: 'limit',
      detail: `a hold has at most ${STEPS_PER_HOLD_MAX} steps`,
    }
  }
  if (hold.writes > 0 || claim.mode === 'read') return 'grant'
  if (draft.holdCount === 1) return 'grant'
  const pending = draft.upgraders[0]
  if (pending !== undefined && pending.owner !== claim.owner) {
    return { kind: 'refused', code: 'upgrade_conflict', holders: showHolders(draft) }
  }
  return 'wait'
}

/** A connected waiter is told; one that only asks now and then has a while to take its grant. */
function settle(draft: Draft, waiter: Waiter, hold: Hold | undefined): void {
  const claimByMs = waiter.connected
    ? Number.POSITIVE_INFINITY
    : draft.nowMs + draft.view.settings.claimWindowMs
  draft.removeWaiter(waiter, grantClaim(draft, hold, { claim: waiter, claimByMs }))
}

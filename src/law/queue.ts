import type { Draft } from './draft.ts'
import {
  type Claim,
  grantAgain,
  grantNew,
  grantUpgrade,
  isRemembered,
  showHolders,
} from './hold-steps.ts'
import { LANE_PASSES_MAX, STEPS_PER_HOLD_MAX } from './model/limits.ts'
import { decideOperationHead } from './operation-head.ts'
import type { Granted, Outcome, Refused } from './model/outcomes.ts'
import type { LawSettings } from './model/settings.ts'
import type { EndedAnswer, EndedCode, Hold, Waiter } from './model/view.ts'

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

/** The grant of a claim that the rules allow. */
export function grantClaim(
  draft: Draft,
  hold: Hold | undefined,
  by: { readonly claim: Claim; readonly claimByMs: number | null },
): Granted {
  if (hold === undefined) return grantNew(draft, by.claim, by.claimByMs)
  const isUpgrade = hold.writes === 0 && by.claim.mode === 'write'
  return isUpgrade ? grantUpgrade(draft, hold, by) : grantAgain(draft, hold, by)
}

/** A connected waiter is told; one that only asks now and then has a while to take its grant. */
function settle(draft: Draft, waiter: Waiter, hold: Hold | undefined): void {
  const claimByMs = waiter.connected
    ? Number.POSITIVE_INFINITY
    : draft.nowMs + draft.view.settings.claimWindowMs
  draft.removeWaiter(waiter, grantClaim(draft, hold, { claim: waiter, claimByMs }))
}

/** A waiter leaves without a grant; its request will never hold. */
export function dismiss(draft: Draft, waiter: Waiter, answer: Outcome): void {
  draft.removeWaiter(waiter, answer)
  draft.tell('cancelled', {
    owner: waiter.owner,
    requestId: waiter.requestId,
    mode: waiter.mode,
    code: answer.kind === 'refused' ? answer.code : undefined,
    type: waiter.operation?.type,
    node: waiter.operation?.node,
  })
  rememberAnswer(draft, waiter, answer)
}

/** Remember an answer after which the request must never hold, if it is one of those. */
export function rememberAnswer(draft: Draft, claim: Claim, answer: Outcome): void {
  const ended = toEndedAnswer(answer)
  if (ended === undefined) return
  const { owner, mode, joined = [] } = claim
  const ids = isRemembered(claim, claim.requestId) ? [claim.requestId, ...joined] : joined
  for (const requestId of ids) {
    draft.remember(
      { verb: 'acquire', owner, requestId, mode, atMs: draft.nowMs, answer: ended },
      true,
    )
  }
}

const REMEMBERED_CODES: ReadonlySet<string> = new Set<EndedCode>([
  'held',
  'timeout',
  'cancelled',
  'upgrade_conflict',
  'deadlock',
  'not_holder',
  'abandoned',
  'disconnected',
  'in_use',
])

function toEndedAnswer(answer: Outcome): EndedAnswer | undefined {
  if (answer.kind === 'skip' || answer.kind === 'dissolved') return answer
  if (answer.kind !== 'refused' || !REMEMBERED_CODES.has(answer.code)) return undefined
  return { kind: 'refused', code: answer.code as EndedCode }
}

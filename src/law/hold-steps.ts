import type { Draft } from './draft.ts'
import type { LawEvent } from './model/events.ts'
import { HOLDERS_SHOWN_MAX } from './model/limits.ts'
import type { Granted, HolderShown } from './model/outcomes.ts'
import type {
  Ended,
  EndedAnswer,
  Hold,
  HoldEnd,
  KeyView,
  Mode,
  OperationFacts,
  Step,
} from './model/view.ts'

/**
 * How a hold begins, grows, shrinks and ends, step by step. Every grant passes through here, whether
 * it was asked for directly or came from the queue.
 */

/** Who asks for what; an asking command and a waiter both have it. */
export interface Claim {
  readonly owner: string
  readonly requestId: string
  readonly party: string
  readonly session: string | undefined
  readonly mode: Mode
  readonly ttlMs: number
  readonly meta: string | undefined
  readonly operation: OperationFacts | undefined
  /** Other request ids that were answered with the same standing. */
  readonly joined?: readonly string[] | undefined
}

/** A hold of an owner that had none: always a new token. */
export function grantNew(draft: Draft, claim: Claim, claimByMs: number | null): Granted {
  const hold = createHold(claim, { token: draft.nextToken(), nowMs: draft.nowMs }, claimByMs)
  return grant(draft, hold, claim)
}

/** The hold that a claim becomes when it is granted to an owner that had none. */
export function createHold(
  claim: Claim,
  { token, nowMs }: { readonly token: number; readonly nowMs: number },
  claimByMs: number | null,
): Hold {
  return {
    owner: claim.owner,
    party: claim.party,
    session: claim.session,
    reads: claim.mode === 'read' ? 1 : 0,
    writes: claim.mode === 'write' ? 1 : 0,
    token,
    sinceMs: nowMs,
    leaseAtMs: nowMs + claim.ttlMs,
    ttlMs: claim.ttlMs,
    steps: [toStep(claim, claimByMs)],
    meta: claim.meta,
    operation: claim.operation,
  }
}

function toStep({ requestId, mode, joined }: Claim, claimByMs: number | null): Step {
  if (joined === undefined) return { requestId, mode, claimByMs }
  return { requestId, mode, claimByMs, joined }
}

/** One more step for an owner that already holds; the token stays. */
export function grantAgain(
  draft: Draft,
  before: Hold,
  { claim, claimByMs }: { readonly claim: Claim; readonly claimByMs: number | null },
): Granted {
  return grantStep(draft, before, { claim, step: toStep(claim, claimByMs) })
}

function grantStep(
  draft: Draft,
  before: Hold,
  { claim, step }: { readonly claim: Claim; readonly step: Step },
): Granted {
  const hold = copyHold(withLease(before, claim.ttlMs, draft.nowMs), {
    reads: before.reads + (claim.mode === 'read' ? 1 : 0),
    writes: before.writes + (claim.mode === 'write' ? 1 : 0),
    steps: [...before.steps, step],
  })
  return grant(draft, hold, claim)
}

/** The passage from reading to writing: a new token, so that what was read before is fenced off. */
export function grantUpgrade(
  draft: Draft,
  before: Hold,
  { claim, claimByMs }: { readonly claim: Claim; readonly claimByMs: number | null },
): Granted {
  const hold = copyHold(before, { token: draft.nextToken() })
  const step = { ...toStep(claim, claimByMs), tokenBefore: before.token }
  return grantStep(draft, hold, { claim, step })
}

function grant(draft: Draft, hold: Hold, claim: Claim): Granted {
  draft.setHold(hold)
  if (draft.view.isWatched) draft.tellEvent(toGrantedEvent(draft.view, hold, claim))
  return toGranted(hold, claim.mode, draft.nowMs)
}

export function toGrantedEvent(
  { namespace, key }: KeyView,
  { owner, token, operation }: Hold,
  { requestId, mode }: Claim,
): LawEvent {
  const { type, node } = operation ?? {}
  return { kind: 'granted', namespace, key, owner, requestId, mode, token, type, node }
}

export function toReleasedEvent({ namespace, key }: KeyView, hold: Hold, mode: Mode): LawEvent {
  const { owner, token } = hold
  return { kind: 'released', namespace, key, owner, mode, token }
}

export function toGranted(hold: Hold, mode: Mode, nowMs: number): Granted {
  return {
    kind: 'granted',
    mode,
    token: hold.token,
    reads: hold.reads,
    writes: hold.writes,
    leaseMs: hold.leaseAtMs - nowMs,
  }
}

/** The lease becomes the later of what it was and now + ttl; it never shortens. */
function withLease(hold: Hold, ttlMs: number, nowMs: number): Hold {
  const leaseAtMs = Math.max(hold.leaseAtMs, nowMs + ttlMs)
  return copyHold(hold, { leaseAtMs, ttlMs: Math.max(hold.ttlMs, ttlMs) })
}

/**
 * A hold with some of it changed. The fields are written out because a view may hand out records of
 * its own, of which a spread would copy only a part.
 */
export function copyHold(hold: Hold, changed: Partial<Hold>): Hold {
  return {
    owner: hold.owner,
    party: hold.party,
    session: hold.session,
    reads: hold.reads,
    writes: hold.writes,
    token: hold.token,
    sinceMs: hold.sinceMs,
    leaseAtMs: hold.leaseAtMs,
    ttlMs: hold.ttlMs,
    steps: hold.steps,
    meta: hold.meta,
    operation: hold.operation,
    ...changed,
  }
}

/** The owner has shown that it knows of its grants. */
export function withStepsTaken(hold: Hold): Hold {
  if (hold.steps.every(isTaken)) return hold
  return copyHold(hold, { steps: hold.steps.map(toTaken) })
}

function isTaken({ claimByMs }: Step): boolean {
  return claimByMs === null
}

/** Written out: steps of one shape are cheaper to read. */
function toTaken({ requestId, mode, tokenBefore, joined }: Step): Step {
  const step = { requestId, mode, claimByMs: null }
  if (tokenBefore === undefined && joined === undefined) return step
  return { ...step, tokenBefore, joined }
}

/** Asking or renewing: the lease moves, and every grant counts as taken. */
export function renewHold(draft: Draft, before: Hold, ttlMs: number): Hold {
  const taken = withStepsTaken(before)
  const hold = withLease(taken, ttlMs, draft.nowMs)
  draft.setHold(hold, taken === before && hold.ttlMs === before.ttlMs)
  return hold
}

/** Take one step back: the count goes down, and at zero the hold ends. */
export function dropStep(
  draft: Draft,
  before: Hold,
  { step, end }: { readonly step: Step; readonly end: HoldEnd },
): Hold | undefined {
  if (isLastStep(before)) {
    endWholeHold(draft, before, end)
    return undefined
  }
  const hold = copyHold(before, {
    reads: before.reads - (step.mode === 'read' ? 1 : 0),
    writes: before.writes - (step.mode === 'write' ? 1 : 0),
    ...withoutStep(before, step, end),
  })
  draft.setHold(hold)
  rememberStep(draft, before, { step, end })
  return hold
}

/**
 * The step that gave the hold its present token knows the one before. If its request is given up the hold
 * goes back to that, unless a later step was granted under the present one, which then knows it instead.
 * A release leaves the token as it is.
 */
function withoutStep(before: Hold, step: Step, end: HoldEnd): Pick<Hold, 'steps' | 'token'> {
  const index = before.steps.findIndex((other) => other.requestId === step.requestId)
  const steps = before.steps.filter((_, at) => at !== index)
  const { tokenBefore } = before.steps[index] ?? step
  const later = steps[index]
  const isGivenUp = end === 'cancelled' || end === 'unclaimed'
  if (tokenBefore === undefined || !isGivenUp) return { steps, token: before.token }
  if (later === undefined) return { steps, token: tokenBefore }
  return { steps: steps.with(index, { ...later, tokenBefore }), token: before.token }
}

/** Whether the hold ends with its next step back. */
export function isLastStep(hold: Hold): boolean {
  return hold.reads + hold.writes === 1
}

/** Every step ends, and who waited to upgrade this hold has nothing left to upgrade. */
export function endWholeHold(draft: Draft, hold: Hold, end: HoldEnd): void {
  draft.endHold(hold, end)
  for (const step of hold.steps) rememberStep(draft, hold, { step, end })
  if (draft.upgraders.length > 0) endUpgrades(draft, hold)
}

function endUpgrades(draft: Draft, hold: Hold): void {
  for (const waiter of draft.upgraders) {
    if (waiter.owner !== hold.owner) continue
    const { owner, requestId, mode } = waiter
    const answer = { kind: 'refused', code: 'not_holder' } as const
    draft.removeWaiter(waiter, answer)
    draft.tell('cancelled', { owner, requestId, mode, code: answer.code })
    draft.remember({ verb: 'acquire', owner, requestId, mode, atMs: draft.nowMs, answer }, true)
  }
}

/** Shared, because there are many and they say the same. */
const HOLD_ENDED: Readonly<Record<HoldEnd, EndedAnswer>> = {
  released: { kind: 'hold-ended', end: 'released' },
  expired: { kind: 'hold-ended', end: 'expired' },
  disconnected: { kind: 'hold-ended', end: 'disconnected' },
  forced: { kind: 'hold-ended', end: 'forced' },
  failed: { kind: 'hold-ended', end: 'failed' },
  cancelled: { kind: 'hold-ended', end: 'cancelled' },
  unclaimed: { kind: 'hold-ended', end: 'unclaimed' },
}

function rememberStep(
  draft: Draft,
  hold: Hold,
  { step, end }: { readonly step: Step; readonly end: HoldEnd },
): void {
  const { nowMs } = draft
  if (isRemembered(hold, step.requestId)) {
    draft.remember(endOfStep(hold, { step, end }, nowMs), false)
  }
  if (step.joined === undefined) return
  for (const requestId of step.joined) {
    draft.remember(endOfStep(hold, { step: { ...step, requestId }, end }, nowMs), false)
  }
}

/** What a late retry of the request behind a step is told, once the step has ended. */
export function endOfStep(
  { owner }: Hold,
  { step, end }: { readonly step: Step; readonly end: HoldEnd },
  atMs: number,
): Ended {
  const { requestId, mode } = step
  return { verb: 'acquire', owner, requestId, mode, atMs, answer: HOLD_ENDED[end] }
}

/**
 * An operation that names no request id uses its owner's name for every run, so its end must not
 * stand in the way of the next.
 */
export function isRemembered(
  claim: Pick<Claim, 'owner' | 'operation'>,
  requestId: string,
): boolean {
  return claim.operation === undefined || requestId !== claim.owner
}

/** The lease as it stands: a heartbeat of the session has renewed it for the hold's own ttl. */
export function leaseAtMsOf(view: KeyView, hold: Hold): number {
  const session = hold.session === undefined ? undefined : view.session(hold.session)
  if (!session?.keepsLeases) return hold.leaseAtMs
  return Math.max(hold.leaseAtMs, session.heardAtMs + hold.ttlMs)
}

/** The present holders, for those who are refused. */
export function showHolders(draft: Draft): HolderShown[] {
  const shown: HolderShown[] = []
  for (const hold of draft.holds()) {
    if (shown.length === HOLDERS_SHOWN_MAX) break
    shown.push({
      owner: hold.owner,
      mode: hold.writes > 0 ? 'write' : 'read',
      token: hold.token,
      heldMs: draft.nowMs - hold.sinceMs,
      leaseMs: leaseAtMsOf(draft.view, hold) - draft.nowMs,
    })
  }
  return shown
}

import { dismiss } from './answers.ts'
import type { Draft } from './draft.ts'
import { HOLDERS_SHOWN_MAX } from './model/limits.ts'
import type { Granted, HolderShown } from './model/outcomes.ts'
import type { EndedAnswer, Hold, HoldEnd, KeyView, Mode, Step, Waiter } from './model/view.ts'

/**
 * How a hold begins, grows, shrinks and ends, step by step. Every grant passes through here, whether
 * it was asked for directly or came from the queue.
 */

/** Who asks for what; an asking command and a waiter both have it. */
export type Claim = Pick<
  Waiter,
  'owner' | 'requestId' | 'party' | 'session' | 'mode' | 'ttlMs' | 'meta' | 'operation' | 'joined'
>

/** A claim that is granted. `claimByMs` is that of its step. */
interface Grant {
  readonly claim: Claim
  readonly claimByMs: number | null
}

/** The grant of a claim that the rules allow, to an owner that has this hold, or none. */
export function grantClaim(draft: Draft, before: Hold | undefined, grant: Grant): Granted {
  const hold =
    before === undefined
      ? createHold(grant, { token: draft.nextToken(), nowMs: draft.nowMs })
      : withStep(draft, before, grant)
  const { requestId, mode } = grant.claim
  draft.setHold(hold)
  draft.tell('granted', hold, { requestId, mode, token: hold.token })
  return toGranted(hold, mode, draft.nowMs)
}

/** A hold of an owner that had none: always a new token. */
export function createHold(
  { claim, claimByMs }: Grant,
  { token, nowMs }: { readonly token: number; readonly nowMs: number },
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

/**
 * One more step for an owner that already holds. The token stays, except on the passage from reading to
 * writing: that has a new one, so that what was read before is fenced off.
 */
function withStep(draft: Draft, before: Hold, { claim, claimByMs }: Grant): Hold {
  const isUpgrade = before.writes === 0 && claim.mode === 'write'
  const step = toStep(claim, claimByMs)
  return copyHold(withLease(before, claim.ttlMs, draft.nowMs), {
    reads: before.reads + (claim.mode === 'read' ? 1 : 0),
    writes: before.writes + (claim.mode === 'write' ? 1 : 0),
    token: isUpgrade ? draft.nextToken() : before.token,
    steps: [...before.steps, isUpgrade ? { ...step, tokenBefore: before.token } : step],
  })
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
  draft.rememberRequest(before, step, HOLD_ENDED[end])
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

/** Every step ends, and waiters that were to upgrade this hold have nothing left to upgrade. */
export function endWholeHold(draft: Draft, hold: Hold, end: HoldEnd): void {
  draft.endHold(hold, end)
  for (const step of hold.steps) draft.rememberRequest(hold, step, HOLD_ENDED[end])
  for (const waiter of draft.upgraders) {
    if (waiter.owner !== hold.owner) continue
    dismiss(draft, waiter, { kind: 'refused', code: 'not_holder' })
  }
}

/** Shared, because there are many and they say the same. */
export const HOLD_ENDED: Readonly<Record<HoldEnd, EndedAnswer>> = {
  released: { kind: 'hold-ended', end: 'released' },
  expired: { kind: 'hold-ended', end: 'expired' },
  disconnected: { kind: 'hold-ended', end: 'disconnected' },
  forced: { kind: 'hold-ended', end: 'forced' },
  failed: { kind: 'hold-ended', end: 'failed' },
  cancelled: { kind: 'hold-ended', end: 'cancelled' },
  unclaimed: { kind: 'hold-ended', end: 'unclaimed' },
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

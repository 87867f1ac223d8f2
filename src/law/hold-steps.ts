import type { Draft } from './draft.ts'
import { HOLDERS_SHOWN_MAX } from './limits.ts'
import type { Granted, HolderShown } from './outcomes.ts'
import type { EndedAnswer, Hold, HoldEnd, KeyView, Mode, OperationFacts, Step } from './view.ts'

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
}

/** A hold of an owner that had none: always a new token. */
export function grantNew(draft: Draft, claim: Claim, claimByMs: number | null): Granted {
  const hold: Hold = {
    owner: claim.owner,
    party: claim.party,
    session: claim.session,
    reads: claim.mode === 'read' ? 1 : 0,
    writes: claim.mode === 'write' ? 1 : 0,
    token: draft.nextToken(),
    sinceMs: draft.nowMs,
    leaseAtMs: draft.nowMs + claim.ttlMs,
    ttlMs: claim.ttlMs,
    steps: [{ requestId: claim.requestId, mode: claim.mode, claimByMs }],
    meta: claim.meta,
    operation: claim.operation,
  }
  return grant(draft, hold, claim)
}

/** One more step for an owner that already holds; the token stays. */
export function grantAgain(
  draft: Draft,
  before: Hold,
  { claim, claimByMs }: { readonly claim: Claim; readonly claimByMs: number | null },
): Granted {
  const hold = copyHold(withLease(before, claim.ttlMs, draft.nowMs), {
    reads: before.reads + (claim.mode === 'read' ? 1 : 0),
    writes: before.writes + (claim.mode === 'write' ? 1 : 0),
    steps: [...before.steps, { requestId: claim.requestId, mode: claim.mode, claimByMs }],
  })
  return grant(draft, hold, claim)
}

/** The passage from reading to writing: a new token, so that what was read before is fenced off. */
export function grantUpgrade(
  draft: Draft,
  before: Hold,
  by: { readonly claim: Claim; readonly claimByMs: number | null },
): Granted {
  return grantAgain(draft, copyHold(before, { token: draft.nextToken() }), by)
}

function grant(draft: Draft, hold: Hold, claim: Claim): Granted {
  draft.setHold(hold)
  if (draft.view.isWatched) tellGranted(draft, hold, claim)
  return toGranted(hold, claim.mode, draft.nowMs)
}

function tellGranted(draft: Draft, hold: Hold, { requestId, mode }: Claim): void {
  const { owner, token, operation } = hold
  const { type, node } = operation ?? {}
  draft.tell('granted', { owner, requestId, mode, token, type, node })
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
  if (hold.steps.every((step) => step.claimByMs === null)) return hold
  return copyHold(hold, { steps: hold.steps.map((step) => ({ ...step, claimByMs: null })) })
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
    steps: before.steps.filter((other) => other.requestId !== step.requestId),
  })
  draft.setHold(hold)
  rememberStep(draft, before, { step, end })
  return hold
}

/** Whether the hold ends with its next step back. */
export function isLastStep(hold: Hold): boolean {
  return hold.reads + hold.writes === 1
}

/** Every step ends, and who waited to upgrade this hold has nothing left to upgrade. */
export function endWholeHold(draft: Draft, hold: Hold, end: HoldEnd): void {
  draft.endHold(hold, end)
  for (const step of hold.steps) rememberStep(draft, hold, { step, end })
  for (const waiter of draft.upgraders) {
    if (waiter.owner !== hold.owner) continue
    draft.removeWaiter(waiter, { kind: 'refused', code: 'not_holder' })
    draft.remember(
      {
        verb: 'acquire',
        owner: waiter.owner,
        requestId: waiter.requestId,
        mode: waiter.mode,
        atMs: draft.nowMs,
        answer: { kind: 'refused', code: 'not_holder' },
      },
      true,
    )
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
  if (!isRemembered(hold, step.requestId)) return
  draft.remember(
    {
      verb: 'acquire',
      owner: hold.owner,
      requestId: step.requestId,
      mode: step.mode,
      atMs: draft.nowMs,
      answer: HOLD_ENDED[end],
    },
    false,
  )
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

/** The lease as it stands, with what a live session adds to it. */
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

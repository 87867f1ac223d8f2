import { keepPlace } from './acquire.ts'
import type { Cancel, CancelReason, Decline, Entrust, HangUp, Leave, Withdraw } from './commands.ts'
import type { Decision, Draft } from './draft.ts'
import { copyHold, dropStep, toGranted } from './hold-steps.ts'
import { dismiss, moveQueue } from './queue.ts'
import { endByOthers, refuseStranger } from './release.ts'
import { losesHolds, losesPlaces } from './sessions.ts'
import type { HoldEnd, Step } from './view.ts'

/** Leave the queue. A grant that was made there and that its owner has not taken is undone. */
export function cancel(draft: Draft, command: Cancel): Decision {
  const { owner, requestId, reason = 'cancelled' } = command
  const cancelled = cancelOwner(draft, owner, { requestId, reason })
  if (!cancelled && requestId !== undefined) forestall(draft, owner, { requestId, reason })
  return draft.decided({ kind: 'cancelled', cancelled })
}

/** The same for an operation, whose node has one standing whatever its request id. */
export function withdraw(draft: Draft, command: Withdraw): Decision {
  const { type, node, reason = 'cancelled' } = command
  const cancelled = cancelOwner(draft, `${type}:${node}`, { requestId: undefined, reason })
  return draft.decided({ kind: 'cancelled', cancelled })
}

/** What is given up, all of an owner's or one request, and why. */
interface GivenUp {
  readonly requestId: string | undefined
  readonly reason: CancelReason
}

/** A grant that was undone because its owner is out of reach is one that was not claimed. */
const UNDONE_BY: Readonly<Record<CancelReason, HoldEnd>> = {
  cancelled: 'cancelled',
  abandoned: 'unclaimed',
}

function cancelOwner(draft: Draft, owner: string, { requestId, reason }: GivenUp): boolean {
  const isMeant = (id: string): boolean => requestId === undefined || id === requestId
  let cancelled = false
  for (const waiter of draft.waitersOf(owner)) {
    if (!isMeant(waiter.requestId)) continue
    dismiss(draft, waiter, { kind: 'refused', code: reason })
    cancelled = true
  }
  const end = UNDONE_BY[reason]
  if (undoSteps(draft, owner, { end, which: (step) => isMeant(step.requestId) })) cancelled = true
  if (cancelled) moveQueue(draft)
  return cancelled
}

/** The cancel overtook its request: when that arrives it must not hold. */
function forestall(
  draft: Draft,
  owner: string,
  { requestId, reason }: { readonly requestId: string; readonly reason: CancelReason },
): void {
  const isKnown =
    draft.hold(owner)?.steps.some((step) => step.requestId === requestId) === true ||
    draft.ended('acquire', owner, requestId) !== undefined
  if (isKnown) return
  draft.remember(
    {
      verb: 'acquire',
      owner,
      requestId,
      mode: undefined,
      atMs: draft.nowMs,
      answer: { kind: 'refused', code: reason },
    },
    true,
  )
}

/** Undo the steps that were granted from the queue, are not taken, and are meant. */
export function undoSteps(
  draft: Draft,
  owner: string,
  { end, which }: { readonly end: HoldEnd; readonly which: (step: Step) => boolean },
): boolean {
  let undone = false
  for (const step of draft.hold(owner)?.steps ?? []) {
    const hold = draft.hold(owner)
    if (hold === undefined || step.claimByMs === null || !which(step)) continue
    dropStep(draft, hold, { step, end })
    const { token, operation } = hold
    const { type, node } = operation ?? {}
    const { requestId, mode } = step
    draft.tell('cancelled', { owner, requestId, mode, token, end, type, node })
    undone = true
  }
  return undone
}

/**
 * The session has ended: its waiters leave, and its holds end as failed. Or its client was silent for the
 * grace: its waiters leave, and each hold stays until its lease runs out, except in a stream session.
 */
export function leave(draft: Draft, { session }: Leave): Decision {
  const known = draft.view.session(session)
  const waiters = losesPlaces(known, draft.nowMs) ? [...draft.view.waitersIn(session)] : []
  let count = 0
  for (const { owner, requestId } of waiters) {
    const waiter = draft.waiter(owner, requestId)
    if (waiter === undefined) continue
    dismiss(draft, waiter, { kind: 'refused', code: 'disconnected' })
    count += 1
  }
  if (losesHolds(known, draft.nowMs)) {
    // A waiter may have become a holder in this very decision, because what it waited for was over.
    for (const { owner } of [...draft.view.holdsIn(session), ...waiters]) {
      const hold = draft.hold(owner)
      if (hold?.session !== session) continue
      endByOthers(draft, hold, 'disconnected')
      count += 1
    }
  }
  if (count > 0) moveQueue(draft)
  return draft.decided({ kind: 'swept', count })
}

/** Nobody holds a call open for the waiter any more; a session still answers for its own. */
export function hangUp(draft: Draft, { owner, requestId }: HangUp): Decision {
  const waiter = draft.waiter(owner, requestId)
  if (waiter === undefined) return draft.decided({ kind: 'refused', code: 'not_holder' })
  return draft.decided(keepPlace(draft, waiter, { isOpen: false }))
}

/**
 * Whoever is connected to the owner has the grant in hand: from here on it is as if the waiter had been
 * connected when it was granted. One that was taken stays taken.
 */
export function entrust(draft: Draft, { owner, requestId }: Entrust): Decision {
  const hold = draft.hold(owner)
  const step = hold?.steps.find((one) => requestId === undefined || one.requestId === requestId)
  if (hold === undefined || step === undefined) return draft.decided(refuseStranger(draft, owner))
  if (step.claimByMs !== null) {
    const entrusted = { ...step, claimByMs: Number.POSITIVE_INFINITY }
    const steps = hold.steps.map((one) => (one === step ? entrusted : one))
    draft.setHold(copyHold(hold, { steps }))
  }
  return draft.decided(toGranted(hold, step.mode, draft.nowMs))
}

/** One that was entrusted to somebody may have been told to its owner by now: that is no longer to be undone. */
export function decline(draft: Draft, { owner, requestId }: Decline): Decision {
  const cancelled = undoSteps(draft, owner, {
    end: 'unclaimed',
    which: (step) => step.requestId === requestId && step.claimByMs !== Number.POSITIVE_INFINITY,
  })
  if (cancelled) moveQueue(draft)
  return draft.decided({ kind: 'cancelled', cancelled })
}

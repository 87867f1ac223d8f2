import { dismiss } from './answers.ts'
import { keepPlace, NONE_JOINED } from './acquire.ts'
import type { Cancel, CancelReason, Entrust, HangUp, Leave } from './model/commands.ts'
import type { Decision, Draft } from './draft.ts'
import { copyHold, dropStep, toGranted } from './hold-steps.ts'
import { moveQueue } from './queue.ts'
import { endByOthers, refuseNonHolder } from './release.ts'
import { losesHolds, losesPlaces } from './sessions.ts'
import type { HoldEnd, Step } from './model/view.ts'

/**
 * Give up requests of an owner: their places, and grants that the owner has not taken. A request that the
 * owner itself cancels by its id is undone even if the owner was told of the grant. One that is abandoned
 * keeps a grant that was taken, because the owner may be in touch with another server.
 */
export function cancel(draft: Draft, command: Cancel): Decision {
  const { owner, requestId, reason = 'cancelled' } = command
  const isMeant = (standing: Pick<Step, 'requestId' | 'joined'>): boolean =>
    requestId === undefined || isAlone(draft, owner, { standing, requestId })
  let cancelled = false
  for (const waiter of draft.waitersOf(owner)) {
    if (!isMeant(waiter)) continue
    dismiss(draft, waiter, { kind: 'refused', code: reason })
    cancelled = true
  }
  const undoesTaken = requestId !== undefined && reason === 'cancelled'
  const which = (step: Step): boolean => (undoesTaken || step.claimByMs !== null) && isMeant(step)
  if (undoSteps(draft, owner, { end: UNDONE_BY[reason], which })) cancelled = true
  if (cancelled) moveQueue(draft)
  else if (requestId !== undefined) forestall(draft, owner, { requestId, reason })
  return draft.decided({ kind: 'cancelled', cancelled })
}

/** A grant that was undone because its owner is out of reach is one that was not claimed. */
const UNDONE_BY: Readonly<Record<CancelReason, HoldEnd>> = {
  cancelled: 'cancelled',
  abandoned: 'unclaimed',
}

/** Whether a standing is that of one request, and of no other that has not been given up as well. */
function isAlone(
  draft: Draft,
  owner: string,
  {
    standing,
    requestId,
  }: {
    readonly standing: Pick<Step, 'requestId' | 'joined'>
    readonly requestId: string
  },
): boolean {
  const { joined = NONE_JOINED } = standing
  if (standing.requestId !== requestId && !joined.includes(requestId)) return false
  return [standing.requestId, ...joined].every(
    (name) => name === requestId || draft.ended('acquire', owner, name) !== undefined,
  )
}

/**
 * The request made nothing, or shares what it made: its own late copy must not hold. An operation that
 * goes by its owner's name may begin anew. An abandoned request that stands goes on.
 */
function forestall(
  draft: Draft,
  owner: string,
  { requestId, reason }: { readonly requestId: string; readonly reason: CancelReason },
): void {
  if (draft.view.namespace === 'operation' && requestId === owner) return
  if (reason === 'abandoned' && isStanding(draft, owner, requestId)) return
  if (draft.ended('acquire', owner, requestId) !== undefined) return
  const answer = { kind: 'refused', code: reason } as const
  const isVolatile = draft.hold(owner) === undefined
  const { nowMs: atMs } = draft
  draft.remember({ verb: 'acquire', owner, requestId, mode: undefined, atMs, answer }, isVolatile)
}

function isStanding(draft: Draft, owner: string, requestId: string): boolean {
  const standings = [...draft.waitersOf(owner), ...(draft.hold(owner)?.steps ?? [])]
  return standings.some(
    (one) => one.requestId === requestId || one.joined?.includes(requestId) === true,
  )
}

/** Undo the steps that are meant. */
export function undoSteps(
  draft: Draft,
  owner: string,
  { end, which }: { readonly end: HoldEnd; readonly which: (step: Step) => boolean },
): boolean {
  let undone = false
  for (const step of draft.hold(owner)?.steps ?? []) {
    const hold = draft.hold(owner)
    if (hold === undefined || !which(step)) continue
    dropStep(draft, hold, { step, end })
    const { requestId, mode } = step
    draft.tell('cancelled', hold, { requestId, mode, token: hold.token, end })
    undone = true
  }
  return undone
}

/**
 * The session has ended: its waiters leave, and its holds end as failed. Or its client was silent for the
 * grace: its waiters leave, and each hold stays until its lease runs out, except in a stream session.
 */
export function leave(draft: Draft, { session, atMost = Infinity }: Leave): Decision {
  const known = draft.view.session(session)
  const waiters = losesPlaces(known, draft.nowMs) ? [...draft.view.waitersIn(session)] : []
  let count = 0
  for (const { owner, requestId } of waiters) {
    const waiter = draft.waiter(owner, requestId)
    if (waiter === undefined) continue
    if (count === atMost) break
    dismiss(draft, waiter, { kind: 'refused', code: 'disconnected' })
    count += 1
  }
  if (count < atMost && losesHolds(known, draft.nowMs)) {
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

/** No call is held open for the waiter any more; a session still keeps its waiters. */
export function hangUp(draft: Draft, { owner }: HangUp): Decision {
  const [waiter] = draft.waitersOf(owner)
  if (waiter === undefined) return draft.decided({ kind: 'refused', code: 'not_holder' })
  return draft.decided(keepPlace(draft, waiter, { isOpen: false }))
}

/**
 * The process that is connected to the owner knows of the grant: from here on it is as if the waiter had been
 * connected when it was granted. One that was taken stays taken.
 */
export function entrust(draft: Draft, { owner, requestId }: Entrust): Decision {
  const hold = draft.hold(owner)
  const step = hold?.steps.find((one) => requestId === undefined || one.requestId === requestId)
  if (hold === undefined || step === undefined) return draft.decided(refuseNonHolder(draft, owner))
  if (step.claimByMs !== null) {
    const entrusted = { ...step, claimByMs: Number.POSITIVE_INFINITY }
    const steps = hold.steps.map((one) => (one === step ? entrusted : one))
    draft.setHold(copyHold(hold, { steps }))
  }
  return draft.decided(toGranted(hold, step.mode, draft.nowMs))
}

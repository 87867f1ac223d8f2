import {
  type Ask,
  decideForNonHolder,
  askAgain,
  enqueue,
  laneOf,
  refuse,
  refuseFull,
  refuseInvalid,
  replayEnded,
  withJoined,
} from './acquire.ts'
import { assert } from './assert.ts'
import type { Begin, Finish, Unref } from './model/commands.ts'
import type { Decision, Draft } from './draft.ts'
import { copyHold, dropStep, renewHold, showHolders, toGranted } from './hold-steps.ts'
import { decideOperationHead, refuseReference, skip } from './operation-head.ts'
import type { Outcome, Refused } from './model/outcomes.ts'
import { dismiss, grantClaim, moveQueue, rememberAnswer } from './queue.ts'
import { isStale, refuseForGood, refuseNonHolder, STALE_TOKEN } from './release.ts'
import type { Hold, OperationFacts } from './model/view.ts'

/** An operation is a write lock on its resource plus a memory of what has been done. */
export function begin(draft: Draft, command: Begin): Decision {
  const facts = toFacts(draft, command)
  const ask = toAsk(draft, command, facts)
  const standing = standingOf(draft, ask, facts)
  if (standing !== undefined) return draft.decided(standing)
  const invalid = refuseInvalid(draft, ask)
  if (invalid !== undefined) return refuse(draft, ask, invalid)
  const answer = decideOperationHead(draft, { operation: facts, isTold: true })
  if (answer?.kind === 'refused') return refuse(draft, ask, answer)
  if (answer !== undefined) {
    rememberAnswer(draft, ask, answer)
    return draft.decided(answer)
  }
  if (decideForNonHolder(draft, ask) === 'grant') {
    return draft.decided(grantClaim(draft, undefined, { claim: ask, claimByMs: null }))
  }
  const refusal = refuseBusy(draft)
  return refusal === undefined
    ? draft.decided(enqueue(draft, ask, false))
    : refuse(draft, ask, refusal)
}

function toFacts(draft: Draft, command: Begin): OperationFacts {
  return {
    type: command.type,
    node: command.node,
    version: command.version,
    coordination: command.coordination ?? draft.view.settings.coordination,
  }
}

/** The lane named like its type, if it names none itself and there is one. */
function toAsk(draft: Draft, command: Begin, operation: OperationFacts): Ask {
  const { settings } = draft.view
  const owner = ownerOf(operation)
  const byType = settings.lanes.includes(operation.type) ? operation.type : undefined
  const waitMs = command.waitMs ?? 0
  return {
    owner,
    requestId: command.requestId ?? owner,
    party: owner,
    session: command.session,
    mode: 'write',
    ttlMs: command.ttlMs ?? settings.operationTtlMs,
    meta: command.meta,
    operation,
    lane: laneOf(settings, command.lane ?? byType),
    waitMs,
    isOpen: waitMs > 0,
    // An operation keeps its place when its request is no longer held open: it only stops asking.
    deadlineAtMs: Number.POSITIVE_INFINITY,
  }
}

export function ownerOf({ type, node }: Pick<OperationFacts, 'type' | 'node'>): string {
  return `${type}:${node}`
}

/** How an explicit id ended; else what the node already has or waits for, whatever the request id. */
function standingOf(draft: Draft, ask: Ask, facts: OperationFacts): Outcome | undefined {
  const isNamed = ask.requestId !== ask.owner
  const ended = isNamed ? draft.ended('acquire', ask.owner, ask.requestId) : undefined
  if (ended !== undefined) {
    if (ended.answer.kind === 'skip') claimReference(draft, facts)
    return replayEnded(ended)
  }
  const hold = draft.hold(ask.owner)
  const waiter = draft.waitersOf(ask.owner)[0]
  const present = hold?.operation ?? waiter?.operation
  if (present !== undefined && present.version !== facts.version) {
    return { kind: 'refused', code: 'bad_request', detail: 'the node is busy with another version' }
  }
  if (hold !== undefined) {
    const renewed = renewHold(draft, hold, ask.ttlMs)
    joinHold(draft, renewed, ask)
    return toGranted(renewed, 'write', draft.nowMs)
  }
  return waiter === undefined ? undefined : askAgain(draft, waiter, ask)
}

/** A node whose pull is answered `skip` once more knows that it uses the resource, if it still does. */
function claimReference({ resource }: Draft, { type, node }: OperationFacts): void {
  const isReferenced = type === 'pull' && resource.reference(node) !== undefined
  if (isReferenced) resource.addReference({ node, claimByMs: null })
}

/** A late copy of this request is to learn how the hold ended that it was answered with. */
function joinHold(draft: Draft, hold: Hold, ask: Ask): void {
  const [step] = hold.steps
  if (step === undefined) return
  const joined = withJoined(step, ask)
  if (joined !== step.joined) draft.setHold(copyHold(hold, { steps: [{ ...step, joined }] }))
}

function refuseBusy(draft: Draft): Refused | undefined {
  if (draft.view.settings.multiNode) return refuseFull(draft)
  return { kind: 'refused', code: 'held', holders: showHolders(draft) }
}

/** How the operation ended, what is remembered of it, and the release: one step. */
export function finish(draft: Draft, command: Finish): Decision {
  const owner = ownerOf(command)
  const { requestId, token } = command
  const ended = requestId === undefined ? undefined : draft.ended('release', owner, requestId)
  if (ended !== undefined) return draft.decided(replayEnded(ended))
  const hold = draft.hold(owner)
  if (hold?.operation === undefined) {
    const release = { owner, requestId, token, mode: 'write' } as const
    return refuseForGood(draft, release, refuseNonHolder(draft, owner))
  }
  if (isStale(hold, token)) return draft.decided(STALE_TOKEN)
  const [step] = hold.steps
  assert(step !== undefined, 'a hold has a step for each count')
  const { success } = command
  dropStep(draft, hold, { step, end: success ? 'released' : 'failed' })
  tellCompleted(draft, hold, command)
  const answer = { kind: 'finished', success } as const
  if (requestId !== undefined) {
    draft.remember(
      { verb: 'release', owner, requestId, mode: 'write', atMs: draft.nowMs, answer },
      false,
    )
  }
  const coordination = command.coordination ?? hold.operation.coordination
  if (success) succeed(draft, { ...hold.operation, coordination }, command.value)
  moveQueue(draft)
  return draft.decided(answer)
}

function tellCompleted(draft: Draft, hold: Hold, command: Finish): void {
  const { owner, token } = hold
  const { type, node, success, error, value } = command
  const end = success ? 'released' : 'failed'
  draft.tell('released', { owner, token, mode: 'write', end, type, node })
  draft.tell('completed', { owner, token, type, node, success, error, value })
}

function succeed(draft: Draft, done: OperationFacts, value: string | undefined): void {
  const { type, node, version, coordination } = done
  const { resource, nowMs } = draft
  if (coordination === 'server' && type === 'pull') {
    resource.addReference({ node, claimByMs: null })
  }
  if (coordination === 'server' && type === 'delete') resource.clearReferences()
  // Whoever did it, a delete undoes what was done, and whatever is done undoes a delete.
  resource.forgetWhere((earlier) => (type === 'delete') !== (earlier.type === 'delete'))
  if (coordination === 'mutex') return
  const replayOnly = coordination === 'client'
  // What is kept for late listeners only takes nothing away from those who would skip.
  if (!replayOnly || resource.remembered(type)?.replayOnly !== false) {
    const untilMs = nowMs + draft.view.settings.retentionMs
    resource.remember({ type, version, node, value, atMs: nowMs, untilMs, replayOnly })
  }
  answerAlike(draft, done, value)
}

/**
 * Everyone queued for the same, who counts on being told of it in the same way, is answered: they skip,
 * or look for themselves. Those of another kind keep their places and move up.
 */
function answerAlike(draft: Draft, done: OperationFacts, value: string | undefined): void {
  for (const waiter of [...draft.view.waitersOfType(done.type)]) {
    const { operation } = waiter
    if (draft.isGone(waiter) || operation?.coordination !== done.coordination) continue
    if (done.coordination === 'client') {
      dismiss(draft, waiter, { kind: 'dissolved', node: done.node })
    } else if (operation.version === done.version) {
      const answer =
        refuseReference(draft, operation) ??
        skip(draft, { operation, isTold: waiter.connected }, value)
      dismiss(draft, waiter, answer)
    }
  }
}

/** Drop a node's reference to this resource. One it does not have is not an error. */
export function unref(draft: Draft, command: Unref): Decision {
  const removed = draft.resource.dropReference(command.node) ? 1 : 0
  return draft.decided({ kind: 'unreferenced', removed, count: draft.resource.referenceCount })
}

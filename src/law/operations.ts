import { type Ask, answerAsk, askAgain, laneOf, withJoined } from './acquire.ts'
import { dismiss, replayEnded } from './answers.ts'
import { assert } from './assert.ts'
import type { Decision, Draft } from './draft.ts'
import { copyHold, endWholeHold, renewHold, toGranted } from './hold-steps.ts'
import type { Begin, Finish, Unref } from './model/commands.ts'
import type { Outcome } from './model/outcomes.ts'
import type { Hold, OperationFacts } from './model/view.ts'
import { refuseReference, skip } from './operation-head.ts'
import { endByOwner } from './release.ts'

/** An operation is a write lock on its resource plus a memory of what has been done. */
export function begin(draft: Draft, command: Begin): Decision {
  const ask = toAsk(draft, command)
  return draft.decided(standingOf(draft, ask) ?? answerAsk(draft, ask))
}

interface OperationAsk extends Ask {
  readonly operation: OperationFacts
}

/** The lane named like its type, if it names none itself and there is one. */
function toAsk(draft: Draft, command: Begin): OperationAsk {
  const { settings } = draft.view
  const { type, node, version, coordination = settings.coordination } = command
  const operation = { type, node, version, coordination }
  const owner = ownerOf(operation)
  const byType = settings.lanes.includes(type) ? type : undefined
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

/** A type has no colon, so the first one ends it. */
export function nodeOf(owner: string): string {
  return owner.slice(owner.indexOf(':') + 1)
}

/** How an explicit id ended; else what the node already has or waits for, whatever the request id. */
function standingOf(draft: Draft, ask: OperationAsk): Outcome | undefined {
  const isNamed = ask.requestId !== ask.owner
  const ended = isNamed ? draft.ended('acquire', ask.owner, ask.requestId) : undefined
  if (ended !== undefined) {
    if (ended.answer.kind === 'skip') claimReference(draft, ask.operation)
    return replayEnded(ended)
  }
  const hold = draft.hold(ask.owner)
  const waiter = draft.waitersOf(ask.owner)[0]
  const present = hold?.operation ?? waiter?.operation
  if (present !== undefined && present.version !== ask.operation.version) {
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

/** How the operation ended, what is remembered of it, and the release: one step. */
export function finish(draft: Draft, command: Finish): Decision {
  const { requestId, token, success } = command
  const release = { owner: ownerOf(command), requestId, token, mode: 'write' } as const
  return endByOwner(draft, release, {
    end: (hold) => {
      endWholeHold(draft, hold, success ? 'released' : 'failed')
      tellCompleted(draft, hold, command)
      return { kind: 'finished', success }
    },
    after: ({ operation }) => {
      assert(operation !== undefined, 'a resource is held by an operation')
      const { coordination = operation.coordination } = command
      if (success) succeed(draft, { ...operation, coordination }, command.value)
    },
  })
}

function tellCompleted(draft: Draft, hold: Hold, command: Finish): void {
  const { token } = hold
  const { success, error, value } = command
  draft.tell('released', hold, { token, mode: 'write', end: success ? 'released' : 'failed' })
  draft.tell('completed', hold, { token, success, error, value })
}

function succeed(draft: Draft, done: OperationFacts, value: string | undefined): void {
  const { type, node, version, coordination } = done
  const { resource, nowMs } = draft
  if (coordination === 'server' && type === 'pull') {
    resource.addReference({ node, claimByMs: null })
  }
  const isUnused = type !== 'delete' || resource.referenceCount === 0
  assert(isUnused, 'a delete runs only while no node references its resource')
  // A delete makes every earlier success forgotten, and any other success an earlier delete.
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
 * Every waiter for the same work under the same coordination is answered: it skips, or it is to look for
 * itself. Waiters for other work keep their places and move up.
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

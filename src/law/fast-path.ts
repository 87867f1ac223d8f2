import type { Acquire, KeyCommand, Release } from './model/commands.ts'
import { type Decision, toEvent } from './draft.ts'
import { type Claim, createHold, HOLD_ENDED, isLastStep, toGranted } from './hold-steps.ts'
import type { Released } from './model/outcomes.ts'
import type { Ended, KeyView } from './model/view.ts'

/**
 * The two decisions that are made most, in short: a free key without waiters is granted, and the
 * last step of a hold without waiters is released. No draft is needed for either, and that is
 * a quarter of what they cost.
 *
 * These are no rules of their own. Where one of them says anything it says what the whole law says,
 * which the exploration and the properties check on every command that they give; where anything is out
 * of the ordinary it says nothing.
 */
export function decideFast(
  view: KeyView,
  command: KeyCommand,
  nowMs: number,
): Decision | undefined {
  if (command.kind !== 'acquire' && command.kind !== 'release') return undefined
  if (view.queueLength > 0 || view.hasDue(nowMs)) return undefined
  return command.kind === 'acquire'
    ? grantFree(view, command, nowMs)
    : releaseLast(view, command, nowMs)
}

const RELEASED: Released = Object.freeze({ kind: 'released', reads: 0, writes: 0 })

function grantFree(view: KeyView, command: Acquire, nowMs: number): Decision | undefined {
  const { owner, requestId, session, mode = 'write' } = command
  if (view.holdCount > 0 || command.lane !== undefined) return undefined
  if (session !== undefined && view.session(session) === undefined) return undefined
  if (view.ended('acquire', owner, requestId) !== undefined) return undefined
  const claim: Claim = {
    owner,
    requestId,
    party: command.party ?? owner,
    session,
    mode,
    ttlMs: command.ttlMs ?? view.settings.lockTtlMs,
    meta: command.meta,
    operation: undefined,
  }
  const hold = createHold({ claim, claimByMs: null }, { token: view.token + 1, nowMs })
  return {
    changes: [{ kind: 'hold-set', hold, leaseOnly: false }],
    outcome: toGranted(hold, mode, nowMs),
    events: [
      toEvent(view, 'granted', { subject: hold, facts: { requestId, mode, token: hold.token } }),
    ],
  }
}

function releaseLast(view: KeyView, command: Release, nowMs: number): Decision | undefined {
  const { owner, mode, token } = command
  const hold = command.requestId === undefined ? view.hold(owner) : undefined
  if (hold === undefined || !isLastStep(hold)) return undefined
  if (token !== undefined && token !== hold.token) return undefined
  const [step] = hold.steps
  if (step === undefined || step.joined !== undefined) return undefined
  if (mode !== undefined && mode !== step.mode) return undefined
  const ended: Ended = {
    verb: 'acquire',
    owner,
    requestId: step.requestId,
    mode: step.mode,
    atMs: nowMs,
    answer: HOLD_ENDED.released,
  }
  return {
    changes: [
      { kind: 'hold-ended', hold, end: 'released' },
      { kind: 'end-remembered', ended, volatile: false },
    ],
    outcome: RELEASED,
    events: [
      toEvent(view, 'released', { subject: hold, facts: { mode: step.mode, token: hold.token } }),
    ],
  }
}

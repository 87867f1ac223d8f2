import { otherMode, rememberAnswer, replayEnded } from './answers.ts'
import { findCycle } from './deadlock.ts'
import type { Decision, Draft } from './draft.ts'
import {
  type Claim,
  grantClaim,
  renewHold,
  showHolders,
  toGranted,
  withStepsTaken,
} from './hold-steps.ts'
import type { Acquire } from './model/commands.ts'
import { JOINED_PER_STANDING_MAX } from './model/limits.ts'
import type { Outcome, Refused, Skip } from './model/outcomes.ts'
import type { LawSettings } from './model/settings.ts'
import type { Waiter } from './model/view.ts'
import { decideOperationHead } from './operation-head.ts'
import { countPasses, decideAgain, decideForHolder, isCompatible, isNextInLine } from './queue.ts'
import { NO_SESSION } from './sessions.ts'

/** A claim, and how long and in which way its owner is willing to wait for it. */
export interface Ask extends Claim {
  /** -1 for a lane that is not configured. */
  readonly lane: number
  readonly waitMs: number
  /** Whether a request is held open for it, so that it is told without asking. */
  readonly isOpen: boolean
  /** When it gives up, if it has to wait. */
  readonly deadlineAtMs: number
}

/** Ask for a lock. */
export function acquire(draft: Draft, command: Acquire): Decision {
  const ask = toAsk(draft, command)
  return draft.decided(replay(draft, ask) ?? answerAsk(draft, ask))
}

/** What a request is answered that has no standing yet. */
export function answerAsk(draft: Draft, ask: Ask): Outcome {
  const answer = refuseInvalid(draft, ask) ?? answerInstead(draft, ask)
  if (answer !== undefined) return refuse(draft, ask, answer)
  const hold = draft.hold(ask.owner)
  const rule =
    hold === undefined ? decideForNonHolder(draft, ask) : decideForHolder(draft, hold, ask)
  if (rule === 'wait') return wait(draft, ask, hold !== undefined)
  if (rule !== 'grant') return refuse(draft, ask, rule)
  const granted = grantClaim(draft, hold && withStepsTaken(hold), { claim: ask, claimByMs: null })
  if (hold === undefined && draft.queueLength > 0) decideAgain(draft, ask.owner)
  return granted
}

/** An operation may be refused, or told that its work is done, whether or not the resource is free. */
function answerInstead(draft: Draft, { operation }: Ask): Refused | Skip | undefined {
  return operation && decideOperationHead(draft, { operation, isTold: true })
}

function toAsk(draft: Draft, command: Acquire): Ask {
  const { settings } = draft.view
  const waitMs = command.waitMs ?? 0
  return {
    owner: command.owner,
    requestId: command.requestId,
    party: command.party ?? command.owner,
    session: command.session,
    mode: command.mode ?? 'write',
    ttlMs: command.ttlMs ?? settings.lockTtlMs,
    meta: command.meta,
    operation: undefined,
    lane: laneOf(settings, command.lane),
    waitMs,
    isOpen: command.detach !== true,
    deadlineAtMs: draft.nowMs + waitMs,
  }
}

/** A request that names no lane is in the last; names mean nothing where no lanes are configured. */
export function laneOf(settings: LawSettings, name: string | undefined): number {
  const { lanes } = settings
  if (lanes.length === 0) return 0
  return name === undefined ? lanes.length - 1 : lanes.indexOf(name)
}

/** The same request id on the same key gets the same standing again. */
function replay(draft: Draft, ask: Ask): Outcome | undefined {
  const hold = draft.hold(ask.owner)
  const step = hold?.steps.find((one) => one.requestId === ask.requestId)
  if (hold !== undefined && step !== undefined) {
    if (step.mode !== ask.mode) return otherMode()
    return toGranted(renewHold(draft, hold, ask.ttlMs), ask.mode, draft.nowMs)
  }
  const waiter = draft.waiter(ask.owner, ask.requestId)
  if (waiter !== undefined) {
    if (waiter.mode !== ask.mode) return otherMode()
    return askAgain(draft, waiter, ask)
  }
  const ended = draft.ended('acquire', ask.owner, ask.requestId)
  return ended === undefined ? undefined : replayEnded(ended, ask.mode)
}

/**
 * Asking again keeps the place, extends the wait, and shows that the client is there. It never ends a call
 * that is held open for the same: only the engine that holds it knows when the last one is over.
 */
export function askAgain(draft: Draft, waiter: Waiter, ask: Ask): Outcome {
  return keepPlace(draft, waiter, {
    isOpen: (ask.isOpen && ask.waitMs > 0) || waiter.connected,
    deadlineAtMs: ask.waitMs > 0 ? ask.deadlineAtMs : waiter.deadlineAtMs,
    joined: withJoined(waiter, ask),
  })
}

/** What is known anew of a waiter that keeps its place. */
interface Kept {
  readonly isOpen: boolean
  readonly deadlineAtMs?: number
  readonly joined?: readonly string[] | undefined
}

export function keepPlace(draft: Draft, waiter: Waiter, kept: Kept): Outcome {
  const { session } = waiter
  const { isOpen, deadlineAtMs = waiter.deadlineAtMs, joined = waiter.joined } = kept
  draft.keepWaiter(waiter, {
    ...waiter,
    connected: isOpen || session !== undefined,
    deadlineAtMs,
    leaseAtMs: patience(draft, { isOpen, session }),
    ...(joined === undefined ? {} : { joined }),
  })
  return { kind: 'queued', position: draft.position(waiter) }
}

/**
 * The ids that a standing answers for, once this request has been answered with it. An operation that
 * goes by its owner's name joins nothing: it may begin anew at any time.
 */
export function withJoined(
  standing: Pick<Waiter, 'requestId' | 'joined'>,
  { owner, requestId }: Pick<Ask, 'owner' | 'requestId'>,
): readonly string[] | undefined {
  const { joined = NONE_JOINED } = standing
  const isKnown = requestId === standing.requestId || requestId === owner
  if (isKnown || joined.includes(requestId)) return standing.joined
  return [...joined, requestId].slice(-JOINED_PER_STANDING_MAX)
}

export const NONE_JOINED: readonly string[] = Object.freeze([])

/** How long the place is kept without a sign: a session answers for its own. */
function patience(draft: Draft, ask: Pick<Ask, 'isOpen' | 'session'>): number {
  if (ask.session !== undefined) return Number.POSITIVE_INFINITY
  const { openPatienceMs, waiterPatienceMs } = draft.view.settings
  return draft.nowMs + (ask.isOpen ? openPatienceMs : waiterPatienceMs)
}

function refuseInvalid(draft: Draft, ask: Ask): Refused | undefined {
  if (ask.session !== undefined && draft.view.session(ask.session) === undefined) {
    return NO_SESSION
  }
  if (ask.lane < 0) return { kind: 'refused', code: 'bad_request', detail: 'there is no such lane' }
  return undefined
}

/**
 * Granted if it fits beside every hold and no one is queued: no request passes a waiter. One that is
 * willing to wait, and would stand at the head of all lanes, is granted as the queue would do it.
 */
function decideForNonHolder(draft: Draft, ask: Ask): 'grant' | 'wait' | Refused {
  if (!isCompatible(draft, ask)) return refuseCrowded(draft, ask) ?? 'wait'
  if (draft.queueLength === 0) return 'grant'
  if (ask.waitMs <= 0 || !isNextInLine(draft, ask.lane)) return 'wait'
  countPasses(draft, ask.lane)
  return 'grant'
}

/** Only the number of readers stands in its way. Requests that wait already wait for room. */
function refuseCrowded(draft: Draft, { mode }: Ask): Refused | undefined {
  if (mode === 'write' || draft.writer !== undefined || draft.queueLength > 0) return undefined
  const { holdersPerKeyMax } = draft.view.settings
  return {
    kind: 'refused',
    code: 'limit',
    detail: `a key takes at most ${holdersPerKeyMax} holders`,
  }
}

/** A lock waits if its owner is willing to; an operation, if several nodes may work on the resource. */
function wait(draft: Draft, ask: Ask, upgrade: boolean): Outcome {
  const { settings } = draft.view
  const isWilling = ask.operation === undefined ? ask.waitMs > 0 : settings.multiNode
  if (!isWilling) {
    return refuse(draft, ask, { kind: 'refused', code: 'held', holders: showHolders(draft) })
  }
  if (draft.queueLength >= settings.waitersPerKeyMax) {
    const detail = `a key takes at most ${settings.waitersPerKeyMax} waiters`
    return refuse(draft, ask, { kind: 'refused', code: 'limit', detail })
  }
  const cycle = findCycle(draft, ask, upgrade)
  if (cycle !== undefined) return refuse(draft, ask, { kind: 'refused', code: 'deadlock', cycle })
  return enqueue(draft, ask, upgrade)
}

/** Join the tail of the lane, or of the upgraders. */
function enqueue(draft: Draft, ask: Ask, upgrade: boolean): Outcome {
  const position = draft.addWaiter({
    owner: ask.owner,
    requestId: ask.requestId,
    party: ask.party,
    session: ask.session,
    mode: ask.mode,
    lane: ask.lane,
    upgrade,
    connected: ask.isOpen || ask.session !== undefined,
    ttlMs: ask.ttlMs,
    sinceMs: draft.nowMs,
    deadlineAtMs: ask.deadlineAtMs,
    leaseAtMs: patience(draft, ask),
    meta: ask.meta,
    operation: ask.operation,
  })
  draft.tell('queued', ask, { requestId: ask.requestId, mode: ask.mode })
  return { kind: 'queued', position }
}

/**
 * Refuse a request, or say that its work is done, and see to it that a late copy of the same request never
 * holds either.
 */
function refuse(draft: Draft, ask: Ask, answer: Refused | Skip): Outcome {
  rememberAnswer(draft, ask, answer)
  if (answer.kind === 'refused') {
    draft.tell('refused', ask, { requestId: ask.requestId, mode: ask.mode, code: answer.code })
  }
  return answer
}

import { createError, isLockError } from '../../engine/errors/errors.ts'
import { toCancel, type WaitingCommand } from '../../engine/waits/waiting-command.ts'
import type { Command } from '../../law/model/commands.ts'
import type { Granted, Outcome, Refused } from '../../law/model/outcomes.ts'
import type { LocksContext } from '../locks-context.ts'
import { RETRY_MS_MIN, UNCONFIRMED_RATIO_MAX } from '../options/locks-limits.ts'
import { type Answered, askEngine, pauseBefore, type Sent, sendInBackground } from './ask-engine.ts'

/**
 * Asking an engine for a lock or an operation, from the first attempt to an answer that can be relied on.
 * A lost answer is asked for again under the same request id. So is a grant that took long to arrive: that
 * shows that it still stands, and starts its lease anew. A request that is given up without an answer is
 * called off.
 */
export interface GrantRequest<C extends WaitingCommand> {
  readonly request: C
  readonly signal: AbortSignal | undefined
  /** The first attempt, where it has been sent already. */
  readonly first?: Sent<C> | undefined
  /** Looks into a grant before it is relied on. */
  readonly check?: (answered: Answered<C>) => Promise<Answered<C>>
}

/** The answer that stands for a grant that had ended before its caller heard of it. */
export const PASSED: Refused = Object.freeze({
  kind: 'refused',
  code: 'ended',
  end: 'disconnected',
})

export async function requestGrant<C extends WaitingCommand>(
  context: LocksContext,
  { request, signal, first, check }: GrantRequest<C>,
): Promise<Answered<C>> {
  const { waitMs = 0 } = request
  const untilMs = (first?.sentAtMs ?? context.clock.nowMs()) + Math.max(waitMs, RETRY_MS_MIN)
  const command = (leftMs: number): C => ({
    ...request,
    waitMs: Math.min(waitMs, Math.ceil(leftMs)),
  })
  let isGranted = false
  try {
    const answered = await askEngine(context, { command, untilMs, signal, first })
    const { outcome, sentAtMs } = answered
    assertSettled(request, outcome)
    if (outcome.kind !== 'granted') return answered
    isGranted = true
    const isGood = isFresh(outcome, sentAtMs, context.clock.nowMs())
    const confirmed = isGood ? answered : await confirm(context, request)
    return check === undefined ? confirmed : await check(confirmed)
  } catch (error) {
    const isOpen = isGranted || !isLockError(error) || error.applied === 'maybe'
    if (isOpen) void callOff(context, request)
    throw error
  }
}

/** How a lock or an operation is asked for anew, and for how long. */
export interface Insistence<C extends WaitingCommand> extends Omit<GrantRequest<C>, 'request'> {
  /** The request; under a new id, which takes its place at the tail, if the last one was missed. */
  readonly createRequest: (waitMs: number, isMissed: boolean) => C
  readonly untilMs: number
}

/**
 * From the first answer to one that is about the lock. A refusal that only says that the caller was out
 * of reach is no answer for a caller who is there and still wants it: the lock is asked for anew.
 */
export async function insistOnGrant<C extends WaitingCommand>(
  context: LocksContext,
  { createRequest, untilMs, first, ...asked }: Insistence<C>,
): Promise<Answered<C>> {
  const { signal } = asked
  const leftMs = (nowMs = context.clock.nowMs()): number => Math.max(0, Math.ceil(untilMs - nowMs))
  let answered = await requestGrant(context, {
    ...asked,
    request: createRequest(leftMs(first?.sentAtMs), false),
    first,
  })
  for (let attempt = 1; !context.isClosed; attempt += 1) {
    const isMissed = isMissedBy(answered.outcome)
    // An operation keeps its place when its request is answered; the wait goes on where it is not over.
    const isOpen = isMissed || (answered.outcome.kind === 'queued' && leftMs() > 0)
    if (!isOpen) break
    if (isMissed && !(await pauseBefore(attempt, context, { untilMs, signal }))) break
    answered = await requestGrant(context, {
      ...asked,
      request: createRequest(leftMs(), isMissed),
    })
  }
  return answered
}

/**
 * The wait ended, or its grant, because its caller could not be reached, or before the caller heard of it. Only a
 * caller's own cancel is final.
 */
function isMissedBy(outcome: Outcome): boolean {
  if (outcome.kind !== 'refused') return false
  const { code, end } = outcome
  if (code === 'ended') return end !== 'cancelled'
  return code === 'abandoned' || code === 'disconnected'
}

/** The lease counts from the sending; an answer is good only as long as most of it is left. */
export function isFresh(granted: Granted, sentAtMs: number, nowMs: number): boolean {
  return nowMs - sentAtMs <= granted.leaseMs * UNCONFIRMED_RATIO_MAX
}

/** Asked again, a request that stands is granted with a full lease. */
async function confirm<C extends WaitingCommand>(
  context: LocksContext,
  request: C,
): Promise<Answered<C>> {
  const untilMs = context.clock.nowMs() + RETRY_MS_MIN
  const again: C = { ...request, waitMs: 0 }
  const answered = await askEngine(context, { command: () => again, untilMs })
  if (answered.outcome.kind !== 'refused') return answered
  return { ...answered, outcome: PASSED as Answered<C>['outcome'] }
}

/** Only an operation is answered while it waits. */
function assertSettled(request: WaitingCommand, { kind }: Outcome): void {
  if (kind !== 'queued' || request.kind === 'begin') return
  const text = `an open request for "${request.key}" was answered: queued`
  throw createError('LOCK_INTERNAL', text)
}

/**
 * The caller no longer wants this request: what it made is undone. If the engine stays out of reach, the
 * lease ends by itself. Never rejects.
 */
export function callOff(context: LocksContext, request: WaitingCommand): Promise<void> {
  return sendInBackground(context, toCancel(request) satisfies Command)
}

import { createError, isLockError } from '../../engine/errors/errors.ts'
import { toWithdrawal, type WaitingCommand } from '../../engine/waits/waiting-command.ts'
import type { Acquire, Command } from '../../law/model/commands.ts'
import type { Granted, OutcomeOf, Refused } from '../../law/model/outcomes.ts'
import type { LocksContext } from '../locks-context.ts'
import { RETRY_MS_MIN, UNCONFIRMED_RATIO_MAX } from '../options/locks-limits.ts'
import { type Answered, askAgain, pauseBefore, sendInBackground } from './retrying.ts'

/**
 * Asking an engine for a lock, from the first attempt to an answer that can be relied on: a lost answer
 * is asked for again under the same request id, a grant that took long to arrive is confirmed, and a
 * request that is given up without an answer is called off.
 */
export interface GrantRequest {
  readonly request: Acquire
  readonly signal: AbortSignal | undefined
  /** When the first attempt was sent. */
  readonly startedAtMs: number
}

export interface GrantAnswer {
  /** Refused with `not_holder`: it was granted, and had ended before it arrived here. */
  readonly outcome: Granted | Refused
  /** When the request was sent that the lease counts from. */
  readonly sentAtMs: number
  /** When the answer was there. */
  readonly nowMs: number
}

export async function requestGrant(
  context: LocksContext,
  request: Acquire,
  signal: AbortSignal | undefined,
): Promise<GrantAnswer> {
  const asked: GrantRequest = { request, signal, startedAtMs: context.clock.nowMs() }
  let outcome: OutcomeOf<Acquire>
  try {
    outcome = await context.engine.apply(request, { signal })
  } catch (error) {
    return recoverGrant(context, asked, error)
  }
  return settleGrant(context, asked, { outcome, sentAtMs: asked.startedAtMs })
}

/** How a lock is asked for anew, and for how long. */
export interface Insistence {
  /** A request under a new id; it takes its place at the tail. */
  readonly createRequest: (waitMs: number) => Acquire
  readonly signal: AbortSignal | undefined
  readonly untilMs: number
}

/**
 * From the first answer to one that is about the lock. A refusal that only says that the caller was out
 * of reach is no answer for a caller who is there and still wants it: the lock is asked for anew.
 */
export async function insistOnGrant(
  context: LocksContext,
  answering: Promise<GrantAnswer>,
  { createRequest, signal, untilMs }: Insistence,
): Promise<GrantAnswer> {
  let answer = await answering
  for (let attempt = 1; isMissed(answer.outcome) && !context.isClosed; attempt += 1) {
    if (!(await pauseBefore(attempt, { context, untilMs, signal }))) break
    const waitMs = Math.ceil(untilMs - context.clock.nowMs())
    answer = await requestGrant(context, createRequest(waitMs), signal)
  }
  return answer
}

/** A grant that had ended before it arrived here is nobody's refusal either. */
function isMissed(outcome: Granted | Refused): boolean {
  return outcome.kind === 'refused' && (outcome.code === 'not_holder' || isOutOfReach(outcome))
}

/** The wait ended, or its grant was undone, because whoever waited could not be reached. */
export function isOutOfReach({ code, end }: Refused): boolean {
  if (code === 'ended') return end === 'unclaimed' || end === 'disconnected'
  return code === 'abandoned' || code === 'disconnected'
}

/** The lease counts from the sending; an answer is good only as long as most of it is left. */
export function isFresh(granted: Granted, sentAtMs: number, nowMs: number): boolean {
  return nowMs - sentAtMs <= granted.leaseMs * UNCONFIRMED_RATIO_MAX
}

/** From an answer to one that can be relied on. */
export async function settleGrant(
  context: LocksContext,
  asked: GrantRequest,
  { outcome, sentAtMs }: Answered<Acquire>,
): Promise<GrantAnswer> {
  const nowMs = context.clock.nowMs()
  if (outcome.kind === 'queued') {
    const { key } = asked.request
    throw createError('LOCK_INTERNAL', `an open request for "${key}" was answered: queued`)
  }
  if (outcome.kind === 'refused') return { outcome, sentAtMs, nowMs }
  if (isFresh(outcome, sentAtMs, nowMs)) return { outcome, sentAtMs, nowMs }
  try {
    return await confirm(context, asked.request, outcome)
  } catch (error) {
    void callOff(context, asked.request)
    throw error
  }
}

/** The first attempt failed: find out what became of it. */
export async function recoverGrant(
  context: LocksContext,
  asked: GrantRequest,
  error: unknown,
): Promise<GrantAnswer> {
  const { request, signal, startedAtMs } = asked
  const { waitMs = 0 } = request
  const untilMs = startedAtMs + Math.max(waitMs, RETRY_MS_MIN)
  const command = (leftMs: number): Acquire =>
    waitMs === 0 ? request : { ...request, waitMs: Math.ceil(leftMs) }
  let answered: Answered<Acquire>
  try {
    answered = await askAgain({ context, command, error, untilMs, signal })
  } catch (failure) {
    if (!isLockError(failure) || failure.applied === 'maybe') void callOff(context, request)
    throw failure
  }
  return settleGrant(context, asked, answered)
}

/**
 * The request was sent long ago: it may have waited in the queue, or the answer was slow. Renewing shows that the grant still stands, and starts the count anew.
 */
async function confirm(
  context: LocksContext,
  request: Acquire,
  granted: Granted,
): Promise<GrantAnswer> {
  const { engine, clock } = context
  const { key, owner, ttlMs = granted.leaseMs } = request
  const renewal = { kind: 'renew', key, owner, ttlMs, token: granted.token } as const
  const startedAtMs = clock.nowMs()
  let answered: Answered<typeof renewal>
  try {
    answered = { outcome: await engine.apply(renewal), sentAtMs: startedAtMs }
  } catch (error) {
    const untilMs = startedAtMs + RETRY_MS_MIN
    answered = await askAgain({ context, command: () => renewal, error, untilMs })
  }
  const { outcome, sentAtMs } = answered
  const nowMs = clock.nowMs()
  if (outcome.kind === 'refused') {
    return { outcome: { kind: 'refused', code: 'not_holder' }, sentAtMs, nowMs }
  }
  return { outcome: { ...granted, leaseMs: outcome.leaseMs }, sentAtMs, nowMs }
}

/**
 * The caller no longer wants this request: what it made is undone. If the engine stays out of reach, the
 * lease ends by itself. Never rejects.
 */
export async function callOff(context: LocksContext, request: WaitingCommand): Promise<void> {
  try {
    await sendInBackground<Command>(context, toWithdrawal(request))
  } catch {
    // The error that led here has been reported already.
  }
}

import type { Answer } from '../../engine/engine.ts'
import { createError, isLockError, type LockError } from '../../engine/errors/errors.ts'
import type { Command } from '../../law/model/commands.ts'
import type { OutcomeOf } from '../../law/model/outcomes.ts'
import { backOffMs } from '../../time/back-off.ts'
import type { Clock } from '../../time/clock.ts'
import type { LocksContext } from '../locks-context.ts'
import { RETRY_MS_MIN } from '../options/locks-limits.ts'

/** One attempt, as it was sent. */
export interface Sent<C extends Command> {
  readonly answer: Answer<C>
  readonly sentAtMs: number
}

/** The attempt that was answered: a lease counts from the sending of that one. */
export interface Answered<C extends Command> {
  readonly outcome: OutcomeOf<C>
  readonly sentAtMs: number
}

export interface Question<C extends Command> {
  /** The same request, with the same request id, for what is left of the time. */
  readonly command: (leftMs: number) => C
  /** No attempt begins after this. */
  readonly untilMs: number
  readonly signal?: AbortSignal | undefined
  /** The first attempt, where it has been sent already. */
  readonly first?: Sent<C> | undefined
  /** No caller waits for the answer: every passing failure is tried again, and the process may end meanwhile. */
  readonly inBackground?: boolean
}

/**
 * Send a command, and send it again after a lost answer until one arrives. Throws the error at once if
 * asking again is of no use, and the latest one when the time is over.
 */
export async function askEngine<C extends Command>(
  context: LocksContext,
  question: Question<C>,
): Promise<Answered<C>> {
  const { untilMs, signal, inBackground = false } = question
  let sent = question.first ?? send(context, question)
  for (let attempt = 1; ; attempt += 1) {
    try {
      return { outcome: await sent.answer, sentAtMs: sent.sentAtMs }
    } catch (error) {
      // After one lost answer, a plain "cannot reach it" does not say that nothing happened.
      const isWorthwhile = attempt > 1 || inBackground ? isPassing(error) : isUnclear(error)
      const delayMs = backOffMs(attempt, context.random())
      if (!isWorthwhile || context.clock.nowMs() + delayMs > untilMs) throw error
      await sleep(context.clock, delayMs, { signal, keepsAlive: !inBackground, applied: 'maybe' })
    }
    sent = send(context, question)
  }
}

function send<C extends Command>(
  { engine, clock }: LocksContext,
  { command, untilMs, signal }: Question<C>,
): Sent<C> {
  const sentAtMs = clock.nowMs()
  return { answer: engine.apply(command(Math.max(0, untilMs - sentAtMs)), { signal }), sentAtMs }
}

/** Whether only asking again can tell what became of a request. */
function isUnclear(error: unknown): error is LockError {
  return isLockError(error) && error.retryable && error.applied === 'maybe'
}

/** Whether the same command may well be answered later. */
function isPassing(error: unknown): error is LockError {
  return isLockError(error) && error.retryable && error.code !== 'LOCK_ABORTED'
}

/**
 * Send a command that no caller waits for, and do not give up at the first failure. A lease ends by itself
 * soon after. A session keeps a hold for as long as this process lives, so there the command is sent again
 * until the engine is closed.
 */
export async function sendInBackground(context: LocksContext, command: Command): Promise<void> {
  const isKept = context.session !== undefined
  const untilMs = isKept ? Number.POSITIVE_INFINITY : context.clock.nowMs() + RETRY_MS_MIN
  try {
    await askEngine(context, { command: () => command, untilMs, inBackground: true })
  } catch {
    // The error that led here has been reported already.
  }
}

/** Let a while pass before a lock is asked for anew. False if there is no time for that. */
export async function pauseBefore(
  attempt: number,
  context: LocksContext,
  { untilMs, signal }: Pick<Question<Command>, 'untilMs' | 'signal'>,
): Promise<boolean> {
  const delayMs = backOffMs(attempt, context.random())
  if (context.clock.nowMs() + delayMs >= untilMs) return false
  await sleep(context.clock, delayMs, { signal, keepsAlive: true, applied: 'no' })
  return true
}

interface SleepOptions {
  readonly signal: AbortSignal | undefined
  /** A caller waits for the end of this, and expects the process to be there. */
  readonly keepsAlive: boolean
  /** What an abort leaves open about the request that comes after. */
  readonly applied: 'no' | 'maybe'
}

function sleep(clock: Clock, delayMs: number, options: SleepOptions): Promise<void> {
  const { signal, keepsAlive, applied } = options
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      timer.cancel()
      reject(createAbortedError(signal, applied))
    }
    const timer = clock.setTimer(delayMs, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    if (keepsAlive) timer.ref()
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted === true) onAbort()
  })
}

function createAbortedError(signal: AbortSignal | undefined, applied: 'no' | 'maybe'): LockError {
  return createError('LOCK_ABORTED', 'the wait was aborted by its signal', {
    applied,
    cause: signal?.reason,
  })
}

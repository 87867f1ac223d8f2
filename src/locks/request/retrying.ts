import type { EngineSession, LockEngine } from '../../engine/engine.ts'
import { createError, isLockError, type LockError } from '../../engine/errors/errors.ts'
import type { Command } from '../../law/model/commands.ts'
import type { OutcomeOf } from '../../law/model/outcomes.ts'
import { backOffMs } from '../../time/back-off.ts'
import type { Clock } from '../../time/clock.ts'
import { RETRY_MS_MIN } from '../options/locks-limits.ts'

/** Whether only asking again can tell what became of a request. */
function isUnclear(error: unknown): error is LockError {
  return isLockError(error) && error.retryable && error.applied === 'maybe'
}

/** Whether the same command may well be answered later. */
function isPassing(error: unknown): error is LockError {
  return isLockError(error) && error.retryable && error.code !== 'LOCK_ABORTED'
}

export interface AskAgainOptions<C extends Command> {
  readonly context: {
    readonly engine: LockEngine
    readonly clock: Clock
    readonly random: () => number
    readonly session?: EngineSession | undefined
  }
  /** The same request, with the same request id, for what is left of the time. */
  readonly command: (leftMs: number) => C
  /** What the first attempt failed with. */
  readonly error: unknown
  /** No attempt begins after this. */
  readonly untilMs: number
  readonly signal?: AbortSignal | undefined
  /** Nobody awaits it: whatever may pass is tried again, and the process may end meanwhile. */
  readonly inBackground?: boolean
}

/** The attempt that was answered: a lease counts from the sending of that one. */
export interface Answered<C extends Command> {
  readonly outcome: OutcomeOf<C>
  readonly sentAtMs: number
}

/**
 * Ask again after a lost answer until one arrives. Throws the error at once if asking again is of no
 * use, and the latest one when the time is over.
 */
export async function askAgain<C extends Command>(
  options: AskAgainOptions<C>,
): Promise<Answered<C>> {
  const { context, untilMs, signal, inBackground = false } = options
  let { error } = options
  if (!isUnclear(error) && !(inBackground && isPassing(error))) throw error
  for (let attempt = 1; ; attempt += 1) {
    const delayMs = backOffMs(attempt, context.random())
    if (context.clock.nowMs() + delayMs > untilMs) throw error
    await sleep(context.clock, delayMs, { signal, keepsAlive: !inBackground, applied: 'maybe' })
    const sentAtMs = context.clock.nowMs()
    try {
      const command = options.command(Math.max(0, untilMs - sentAtMs))
      return { outcome: await context.engine.apply(command, { signal }), sentAtMs }
    } catch (failure) {
      // After one lost answer, a plain "cannot reach it" does not say that nothing happened.
      if (!isPassing(failure)) throw failure
      error = failure
    }
  }
}

/** Let a while pass before something is asked for anew. False if there is no time for that. */
export async function pauseBefore(
  attempt: number,
  { context, untilMs, signal }: Pick<AskAgainOptions<Command>, 'context' | 'untilMs' | 'signal'>,
): Promise<boolean> {
  const delayMs = backOffMs(attempt, context.random())
  if (context.clock.nowMs() + delayMs >= untilMs) return false
  await sleep(context.clock, delayMs, { signal, keepsAlive: true, applied: 'no' })
  return true
}

/**
 * Send something that nobody waits for, and do not give up at the first failure. A lease ends by itself
 * soon after; what is held in a session does not for as long as this process lives, so there it is tried
 * until the engine is closed.
 */
export async function sendInBackground<C extends Command>(
  context: AskAgainOptions<C>['context'],
  command: C,
): Promise<OutcomeOf<C>> {
  const isKept = context.session !== undefined
  const untilMs = isKept ? Number.POSITIVE_INFINITY : context.clock.nowMs() + RETRY_MS_MIN
  try {
    return await context.engine.apply(command)
  } catch (error) {
    const again = { context, command: () => command, error, untilMs, inBackground: true }
    return (await askAgain(again)).outcome
  }
}

interface SleepOptions {
  readonly signal: AbortSignal | undefined
  /** Whoever awaits this expects the process to be there when it is over. */
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

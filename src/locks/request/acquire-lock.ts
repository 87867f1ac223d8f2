import type { Acquire } from '../../law/model/commands.ts'
import type { OutcomeOf, Refused } from '../../law/model/outcomes.ts'
import type { HeldLock } from '../lease/held-lock.ts'
import type { LocksContext } from '../locks-context.ts'
import { runInScope } from './task-context.ts'

/**
 * The two ways to a lock. Both go the short way where that is enough; it is written out twice because
 * one more async function in between would cost as much as the engine does.
 */

/** One for all: a promise of its own for every call would cost as much as the turn. */
const A_TURN: Promise<void> = Promise.resolve()

/** What is made of a refusal. */
type OnRefused<Otherwise> = (lock: HeldLock, refused: Refused) => Otherwise

export function throwRefusal(lock: HeldLock, refused: Refused): never {
  throw lock.refusalError(refused)
}

/** Ask for a lock. Resolves to it, or to what is made of the refusal; then the lock has ended. */
export async function acquireLock<Otherwise>(
  context: LocksContext,
  lock: HeldLock,
  onRefused: OnRefused<Otherwise>,
): Promise<HeldLock | Otherwise> {
  const sentAtMs = context.clock.nowMs()
  const answer = lock.ask()
  let outcome: OutcomeOf<Acquire> | undefined
  try {
    outcome = answer instanceof Promise ? await answer : answer
  } catch {
    // `settle` asks what became of it.
  }
  const nowMs = answer instanceof Promise ? context.clock.nowMs() : sentAtMs
  if (lock.accept(outcome, sentAtMs, nowMs)) return lock
  const refused = await lock.settle({ answer, sentAtMs })
  return refused === undefined ? lock : onRefused(lock, refused)
}

/** Ask for a lock, run a function under it, release it. What `Locks.withLock` promises is done here. */
export async function runWithLock<Result>(
  context: LocksContext,
  lock: HeldLock,
  run: (lock: HeldLock) => Result | Promise<Result>,
): Promise<Result> {
  const sentAtMs = context.clock.nowMs()
  const answer = lock.ask()
  let outcome: OutcomeOf<Acquire> | undefined
  try {
    if (answer instanceof Promise) {
      outcome = await answer
    } else {
      // The function never runs before the call has returned, however soon the answer is there.
      await A_TURN
      outcome = answer
    }
  } catch {
    // `settle` asks what became of it.
  }
  // Read anew even after a turn: other work may have kept it long, and a lease does not wait for that.
  if (!lock.accept(outcome, sentAtMs, context.clock.nowMs())) {
    const refused = await lock.settle({ answer, sentAtMs })
    if (refused !== undefined) throw lock.refusalError(refused)
  }
  let result: Result
  try {
    result = await (context.tracksTasks ? runInScope(lock, run) : run(lock))
  } catch (error) {
    await lock[Symbol.asyncDispose]()
    throw error
  }
  const releasing = lock.startRelease()
  if (releasing === null) {
    await lock[Symbol.asyncDispose]()
  } else {
    try {
      lock.finishRelease(releasing instanceof Promise ? await releasing : releasing)
    } catch {
      await lock.recoverRelease(releasing)
    }
  }
  if (lock.loss !== undefined) throw lock.lostError({ result })
  return result
}

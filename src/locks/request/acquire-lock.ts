import type { Acquire } from '../../law/model/commands.ts'
import type { OutcomeOf, Refused } from '../../law/model/outcomes.ts'
import type { HeldLock } from '../lease/held-lock.ts'
import type { LocksContext } from '../locks-context.ts'
import { runInScope, type TaskScope } from './task-context.ts'

/**
 * The two ways to a lock. Both go the short way where that is enough; it is written out twice because
 * one more async function in between would cost as much as the engine does.
 */

/** One for all: a promise of its own for every call would cost as much as the turn. */
const A_TURN: Promise<void> = Promise.resolve()

/** What becomes of whoever is refused. */
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
  let refused: Refused | undefined
  try {
    outcome = answer instanceof Promise ? await answer : answer
  } catch (error) {
    refused = await lock.recover(error, sentAtMs)
  }
  if (outcome !== undefined) {
    const nowMs = answer instanceof Promise ? context.clock.nowMs() : sentAtMs
    if (lock.accept(outcome, sentAtMs, nowMs)) return lock
    refused = await lock.settle(outcome, sentAtMs)
  }
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
  let refused: Refused | undefined
  try {
    if (answer instanceof Promise) {
      outcome = await answer
    } else {
      // The function never runs before the call has returned, however soon the answer is there.
      await A_TURN
      outcome = answer
    }
  } catch (error) {
    refused = await lock.recover(error, sentAtMs)
  }
  // Read anew even after a turn: others may have kept it long, and a lease does not wait for them.
  if (outcome !== undefined && !lock.accept(outcome, sentAtMs, context.clock.nowMs())) {
    refused = await lock.settle(outcome, sentAtMs)
  }
  if (refused !== undefined) throw lock.refusalError(refused)
  const scope: TaskScope = { party: lock.party, open: 0, ended: false }
  let result: Result
  try {
    result = await (context.tracksTasks ? runInScope(scope, run, lock) : run(lock))
  } catch (error) {
    scope.ended = true
    await lock[Symbol.asyncDispose]()
    throw error
  }
  scope.ended = true
  const releasing = lock.startRelease()
  if (releasing === null) {
    await lock[Symbol.asyncDispose]()
  } else if (!(releasing instanceof Promise)) {
    lock.finishRelease(releasing)
  } else {
    try {
      lock.finishRelease(await releasing)
    } catch (error) {
      await lock.recoverRelease(error)
    }
  }
  if (lock.loss !== undefined) throw lock.lostError({ result })
  return result
}

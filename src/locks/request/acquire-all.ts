import { createError } from '../../engine/errors/errors.ts'
import { KEY_BYTES_MAX } from '../../engine/validation/limits.ts'
import { compareNames, problemWithName } from '../../engine/validation/names.ts'
import { acquireLock, throwRefusal } from './acquire-lock.ts'
import type { AcquireTerms } from './acquire-terms.ts'
import { HeldLock } from '../lease/held-lock.ts'
import { LockSet } from '../lease/lock-set.ts'
import type { LocksContext } from '../locks-context.ts'
import { inheritedParty, type TaskScope } from './task-context.ts'

export interface AcquireAllOptions {
  readonly keys: readonly string[]
  readonly terms: AcquireTerms
  readonly scope: TaskScope | undefined
}

/**
 * All of the keys, or none. They are acquired one after the other in byte order, so that two callers that want
 * the same keys do not wait for each other; what is held meanwhile is renewed. If one of those is lost
 * before the last one is there, the wait ends: the set could not be whole any more.
 */
export async function acquireAll(
  context: LocksContext,
  options: AcquireAllOptions,
): Promise<LockSet> {
  const { terms, scope } = options
  const untilMs = context.clock.nowMs() + terms.waitMs
  let party = inheritedParty(scope)
  const held: HeldLock[] = []
  try {
    for (const key of inByteOrder(options.keys)) {
      const waitMs = Math.max(0, Math.ceil(untilMs - context.clock.nowMs()))
      const signal = anySignal(terms.signal, held)
      const lock = new HeldLock(context, { ...terms, waitMs, signal }, key)
      lock.joinTask(scope, party)
      held.push(await acquireLock(context, lock, throwRefusal))
      // One task holds the first ones and waits for the next.
      party = lock.party
    }
    assertNoneLost(held)
    return new LockSet(held)
  } catch (error) {
    for (const lock of held.toReversed()) await lock[Symbol.asyncDispose]()
    assertNoneLost(held)
    throw error
  }
}

function inByteOrder(keys: readonly string[]): string[] {
  if (!Array.isArray(keys) || keys.length === 0) {
    throw createError('LOCK_INVALID_ARGUMENT', 'acquireAll needs a list of at least one key')
  }
  for (const key of keys) assertKey(key)
  return [...new Set(keys)].toSorted(compareNames)
}

/** Before the first is acquired, because of one that cannot be. */
function assertKey(key: string): void {
  const problem = problemWithName(key, KEY_BYTES_MAX)
  if (problem === undefined) return
  throw createError('LOCK_INVALID_ARGUMENT', `acquireAll: key ${problem}`, {
    details: { field: 'key' },
  })
}

function anySignal(
  signal: AbortSignal | undefined,
  held: readonly HeldLock[],
): AbortSignal | undefined {
  if (held.length === 0) return signal
  const losses = held.map((lock) => lock.signal)
  return AbortSignal.any(signal === undefined ? losses : [signal, ...losses])
}

function assertNoneLost(held: readonly HeldLock[]): void {
  const lost = held.find((lock) => lock.loss !== undefined)
  if (lost !== undefined) throw lost.lostError()
}

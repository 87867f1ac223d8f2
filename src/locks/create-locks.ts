import { randomBytes } from 'node:crypto'
import type { LockEngine } from '../engine/engine.ts'
import { createError } from '../engine/errors/errors.ts'
import { problemWithName } from '../engine/validation/names.ts'
import { SystemClock } from '../time/system-clock.ts'
import { parseTtl } from './request/acquire-terms.ts'
import { assertFlag, assertOptions } from './options/check-options.ts'
import type { CreateLocksOptions } from './options/lock-options.ts'
import { Locks } from './locks.ts'
import { LocksContext } from './locks-context.ts'
import { LEASE_MS_DEFAULT, OWNER_NAME_BYTES_MAX } from './options/locks-limits.ts'

/**
 * Locks of an engine that is already there. Closing them does not close the engine: its opener
 * closes it.
 *
 * @example
 * ```ts
 * import { createLocks } from 'holdfast'
 * import type { LockEngine } from 'holdfast/engine'
 *
 * export async function countLocks(engine: LockEngine): Promise<number> {
 *   await using locks = createLocks(engine, { owner: 'inspector' })
 *   const { locks: found } = await locks.list({ limit: 1000 })
 *   return found.length
 * }
 * ```
 */
export function createLocks(engine: LockEngine, options: CreateLocksOptions = {}): Locks {
  return createOwningLocks(engine, options)
}

/** The same, for an engine that ends with its locks. */
export function createOwningLocks(
  engine: LockEngine,
  options: CreateLocksOptions,
  closeEngine?: () => Promise<void>,
): Locks {
  assertOptions(options)
  const { owner, node, ttl, clock = new SystemClock(), random = drawRandom } = options
  const { followTasks = false } = options
  assertFlag(followTasks, 'followTasks')
  if (owner !== undefined) assertName(owner, 'owner')
  if (node !== undefined) assertName(node, 'node')
  const unique = createId(random)
  const id = owner === undefined ? unique : `${owner}-${unique}`
  return new Locks({
    context: new LocksContext({ engine, clock, random, id, followsTasks: followTasks }),
    node: node ?? owner ?? unique,
    ttlMs: parseTtl(ttl, LEASE_MS_DEFAULT),
    closeEngine,
  })
}

/** 64 bits: two processes that draw the same one would take each other for one owner. */
function createId(random: () => number): string {
  const draw = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  return draw() + draw()
}

function drawRandom(): number {
  return randomBytes(4).readUInt32BE() / 2 ** 32
}

function assertName(name: string, option: string): void {
  const problem = problemWithName(name, OWNER_NAME_BYTES_MAX)
  if (problem === undefined) return
  throw createError('LOCK_INVALID_ARGUMENT', `${option} ${problem}`, { details: { option } })
}

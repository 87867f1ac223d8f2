import type { InspectReply } from '../engine/queries.ts'
import type { InspectOptions } from '../locks/options/lock-options.ts'
import type { Locks } from '../locks/locks.ts'

export interface LookedAt {
  readonly reply: InspectReply
  /** Whether an operation of the same name was passed over for the lock. */
  readonly hasOperationToo: boolean
}

/**
 * A lock and an operation may have the same name. Who does not say which of the two is meant gets the
 * lock, unless there is nothing but the operation.
 */
export async function lookAtKey(
  server: Locks,
  key: string,
  options: InspectOptions,
): Promise<LookedAt> {
  if (options.kind !== undefined) {
    return { reply: await server.inspect(key, options), hasOperationToo: false }
  }
  const [lock, operation] = await Promise.all([
    server.inspect(key, { ...options, kind: 'lock' }),
    server.inspect(key, { ...options, kind: 'operation' }),
  ])
  if (!hasAnything(operation)) return { reply: lock, hasOperationToo: false }
  return hasAnything(lock)
    ? { reply: lock, hasOperationToo: true }
    : { reply: operation, hasOperationToo: false }
}

function hasAnything({ holders, queueLength, references, remembered }: InspectReply): boolean {
  return holders.length + queueLength + references.length + remembered.length > 0
}

/** A line for people, who may have meant the other one. */
export const OPERATION_TOO = 'There is an operation of the same name: see --kind operation.'

import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Which task a lock belongs to, so that a task that waits for itself is told so instead of waiting.
 *
 * `withLock` runs its callback in a task scope. What is acquired inside is acquired by the same party,
 * and an engine that sees deadlocks can tell. Parallel branches of one task (`Promise.all`) share its
 * scope and yet do not wait for each other in a circle: one of them ends and the other goes on. A scope
 * cannot tell branches apart, so only one open lock at a time inherits its party; a lock that is asked for
 * beside it counts as a party of its own. That misses some deadlocks and invents none.
 */
export interface TaskScope {
  readonly party: string
  /** Locks that were asked for directly inside this scope and have not ended. */
  open: number
  /** Work that outlives its `withLock` is no longer part of the task. */
  ended: boolean
}

const storage = new AsyncLocalStorage<TaskScope>()

export function currentScope(): TaskScope | undefined {
  return storage.getStore()
}

/** The party that a lock asked for in this scope belongs to, unless it is a party of its own. */
export function inheritedParty(scope: TaskScope | undefined): string | undefined {
  return scope === undefined || scope.ended || scope.open > 0 ? undefined : scope.party
}

/** Run a function in a scope of its own, which everything that follows from it asynchronously belongs to. */
export async function runInScope<Lock extends { readonly party: string }, Result>(
  lock: Lock,
  run: (lock: Lock) => Result | Promise<Result>,
): Promise<Result> {
  const scope: TaskScope = { party: lock.party, open: 0, ended: false }
  try {
    return await storage.run(scope, run, lock)
  } finally {
    scope.ended = true
  }
}

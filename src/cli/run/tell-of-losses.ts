import type { LockHandle } from '../../locks/lease/lock-handle.ts'
import type { Locks } from '../../locks/locks.ts'

const ENDS: ReadonlySet<string> = new Set(['forced', 'expired', 'disconnected', 'reset'])

/**
 * A handle learns of its loss with its next renewal. That is soon enough for a resource that checks tokens; a
 * command under a lock may not, so a hint from the server makes the handle look at once. Returns how to
 * stop.
 */
export function tellOfLosses(locks: Locks, lock: LockHandle): () => void {
  const watch = locks.watch({ prefix: lock.key, kind: 'lock' })
  void follow()
  return () => void watch.close().catch(() => undefined)

  async function follow(): Promise<void> {
    try {
      for await (const event of watch) {
        const isOurs =
          event.kind === 'reset' || (event.key === lock.key && event.owner === lock.owner)
        if (isOurs && ENDS.has(event.kind)) await look()
      }
    } catch {
      // A hint less; the lease and its renewals stand.
    }
  }

  async function look(): Promise<void> {
    try {
      await lock.renew()
    } catch {
      // If it is lost, its signal says so; anything else says nothing about the lock.
    }
  }
}

import type { Redis } from 'ioredis'
import Redlock from 'redlock'
import { type Cycle, TTL_MS } from '../contestants/locker.ts'

/** Its default is to give up after ten tries, which the waiters of the bench must not. */
const FOR_EVER = -1

export function createRedlockCycle(client: Redis, retryMs: number | undefined): Cycle {
  const retry = retryMs === undefined ? {} : { retryDelay: retryMs, retryJitter: retryMs }
  const redlock = new Redlock([client], { retryCount: FOR_EVER, ...retry })
  return async (key, run) => {
    const lock = await redlock.acquire([key], TTL_MS)
    await run()
    await lock.release()
  }
}

import type { Redis } from 'ioredis'
import { Mutex } from 'redis-semaphore'
import { type Cycle, TTL_MS } from '../contestants/locker.ts'

export function createRedisSemaphoreCycle(client: Redis, retryMs: number | undefined): Cycle {
  const retry = retryMs === undefined ? {} : { retryInterval: retryMs }
  const options = { lockTimeout: TTL_MS, acquireTimeout: Infinity, ...retry }
  return async (key, run) => {
    const mutex = new Mutex(client, key, options)
    await mutex.acquire()
    await run()
    await mutex.release()
  }
}

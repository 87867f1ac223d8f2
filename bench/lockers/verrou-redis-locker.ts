import { LockFactory } from '@verrou/core'
import { redisStore } from '@verrou/core/drivers/redis'
import type { Redis } from 'ioredis'
import type { Cycle } from '../locker.ts'
import { TTL_MS } from '../redis-lockers.ts'

export function createVerrouRedisCycle(client: Redis, retryMs: number | undefined): Cycle {
  const retry = retryMs === undefined ? {} : { retry: { delay: retryMs } }
  const factory = new LockFactory(redisStore({ connection: client }).factory(), retry)
  return (key, run) => factory.createLock(key, TTL_MS).run(run)
}

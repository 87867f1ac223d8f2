import { LockFactory } from '@verrou/core'
import { redisStore } from '@verrou/core/drivers/redis'
import type { Redis } from 'ioredis'
import { type Cycle, TTL_MS } from '../contestants/locker.ts'
import { createVerrouRetry } from '../contestants/verrou-retry.ts'

export function createVerrouRedisCycle(client: Redis, retryMs: number | undefined): Cycle {
  const store = redisStore({ connection: client }).factory()
  const factory = new LockFactory(store, { retry: createVerrouRetry(retryMs) })
  return (key, run) => factory.createLock(key, TTL_MS).run(run)
}

import { Redis } from 'ioredis'
import { type RedisOptions, startRedis } from '../../test/services/redis.ts'
import type { Cycle, Locker } from './locker.ts'
import { createPooledLocker } from './pooled-locker.ts'

export type RedisLibrary = 'redlock' | 'redis-semaphore' | 'verrou' | 'ioredis by hand'

type CreateCycle = (client: Redis, retryMs: number | undefined) => Cycle

/** Each is loaded when it is opened, as those of one process are. */
const LIBRARIES: Readonly<Record<RedisLibrary, () => Promise<CreateCycle>>> = {
  redlock: async () => (await import('../lockers/redlock-locker.ts')).createRedlockCycle,
  'redis-semaphore': async () =>
    (await import('../lockers/redis-semaphore-locker.ts')).createRedisSemaphoreCycle,
  verrou: async () => (await import('../lockers/verrou-redis-locker.ts')).createVerrouRedisCycle,
  'ioredis by hand': async () => (await import('../lockers/ioredis-locker.ts')).createIoredisCycle,
}

export const REDIS_LIBRARIES: readonly RedisLibrary[] = Object.keys(LIBRARIES) as RedisLibrary[]

export interface RedisLockerOptions extends RedisOptions {
  /** How long a waiter waits before it asks again; the default of each library otherwise. */
  readonly retryMs?: number
  /** A connection for each who holds or waits, and not one for all. */
  readonly isConnectionEach?: boolean
}

/** A library on a Redis that it has for itself. */
export async function openRedisLocker(
  library: RedisLibrary,
  options: RedisLockerOptions = {},
): Promise<Locker> {
  const { retryMs, isConnectionEach = false } = options
  const createCycle = await LIBRARIES[library]()
  const service = await startRedis(options)
  const connect = async (): Promise<Locker> => {
    const client = new Redis(service.url)
    const close = async (): Promise<void> => void (await client.quit())
    return { cycle: createCycle(client, retryMs), close }
  }
  const locker = isConnectionEach ? createPooledLocker(connect) : await connect()
  return {
    cycle: locker.cycle,
    close: async () => {
      await locker.close()
      await service.stop()
    },
  }
}

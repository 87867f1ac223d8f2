/** Those who compete over the network; each has a server for itself, in a process of its own. */
import { openOnDatabase } from './database-server.ts'
import type { Locker, Lockers } from './locker.ts'
import { openOnBareHttp, openOnHoldfast } from './node-server.ts'
import { createPooledLocker } from './pooled-locker.ts'
import {
  openRedisLocker,
  REDIS_LIBRARIES,
  type RedisLibrary,
  type RedisLockerOptions,
} from './redis-lockers.ts'

export const SESSION = 'Holdfast session'
export const SESSION_EACH = 'Holdfast session each'
export const DURABLE_SESSION = 'Holdfast session, durable'
export const POST = 'Holdfast by POST'
export const BARE_HTTP = 'node:http alone'
export const ADVISORY = 'PostgreSQL advisory'

/** Chosen by hand from one to twenty milliseconds, with 32 waiters on one key; no value is best for all. */
export const TUNED_RETRY_MS = 2

/** The names of a library's variants. */
export const onAof = (library: RedisLibrary): string => `${library}, AOF always`
export const tuned = (library: RedisLibrary): string => `${library}, tuned`

/** Ours, through whatever a program would use: one connection for all of its workers. */
export const OUR_LOCKERS: Lockers = {
  [SESSION]: () => openOnHoldfast('memory', openAcquireLocker),
  [DURABLE_SESSION]: () => openOnHoldfast('durable', openAcquireLocker),
  [POST]: () => openOnHoldfast('memory', openPostLocker),
}

export const OUR_LOCKERS_EACH: Lockers = {
  [SESSION_EACH]: () =>
    openOnHoldfast('memory', (url) => createPooledLocker(() => openAcquireLocker(url))),
}

export const BARE_HTTP_LOCKER: Lockers = {
  [BARE_HTTP]: () => openOnBareHttp(openPostLocker),
}

/** The libraries on Redis, one connection for all workers. */
export const REDIS_LOCKERS: Lockers = createRedisLockers((library) => library, {})
export const AOF_LOCKERS: Lockers = createRedisLockers(onAof, { appendonly: 'always' })

/**
 * The same for those who wait: a connection for each. Workers who poll through one connection overtake
 * each other in its pipeline, which is faster than anything that nodes of a fleet could do.
 */
export const POLLING_LOCKERS: Lockers = {
  ...createRedisLockers((library) => library, { isConnectionEach: true }),
  ...createRedisLockers(tuned, { isConnectionEach: true, retryMs: TUNED_RETRY_MS }),
}

export function createAdvisoryLockers(connections: number): Lockers {
  return {
    [ADVISORY]: () =>
      openOnDatabase('PostgreSQL', async (url) => {
        const advisory = await import('../lockers/postgres-advisory-locker.ts')
        return advisory.createPostgresAdvisoryLocker(url, connections)
      }),
  }
}

function createRedisLockers(
  toName: (library: RedisLibrary) => string,
  options: RedisLockerOptions,
): Lockers {
  return Object.fromEntries(
    REDIS_LIBRARIES.map((library) => [toName(library), () => openRedisLocker(library, options)]),
  )
}

async function openAcquireLocker(url: string): Promise<Locker> {
  const holdfast = await import('../lockers/acquire-locker.ts')
  return holdfast.openAcquireLocker(url)
}

async function openPostLocker(url: string): Promise<Locker> {
  const { createPostLocker } = await import('../lockers/post-locker.ts')
  return createPostLocker(url)
}

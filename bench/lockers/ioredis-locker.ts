import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { type Cycle, TTL_MS } from '../contestants/locker.ts'

const USUAL_RETRY_MS = 100
const RELEASE = `
if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end
return 0
`

type WithRelease = Redis & { release(key: string, owner: string): Promise<number> }

/** What people write who need no library: `SET NX PX`, and a script that deletes only what is theirs. */
export function createIoredisCycle(client: Redis, retryMs: number = USUAL_RETRY_MS): Cycle {
  client.defineCommand('release', { numberOfKeys: 1, lua: RELEASE })
  return async (key, run) => {
    const owner = randomUUID()
    while ((await client.set(key, owner, 'PX', TTL_MS, 'NX')) === null) {
      // Not all at the same moment.
      await delay(retryMs * (0.5 + Math.random()))
    }
    await run()
    await (client as WithRelease).release(key, owner)
  }
}

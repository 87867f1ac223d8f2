import { JsonPoster } from '../contestants/json-post.ts'
import type { Locker } from '../contestants/locker.ts'

const WAIT_MS = 600_000

/** Two requests of the documented HTTP API per cycle, without a library of ours. */
export function createPostLocker(url: string): Locker {
  const poster = new JsonPoster(url)
  let owners = 0
  const post = async (path: string, body: unknown): Promise<void> => {
    const answer = await poster.post(path, body)
    if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer)}`)
  }
  return {
    async cycle(key, run) {
      owners += 1
      const owner = `worker-${owners}`
      await post('/v1/acquire', { key, owner, wait_ms: WAIT_MS })
      await run()
      await post('/v1/release', { key, owner })
    },
    close: async () => poster.close(),
  }
}

import type { Locker } from '../contestants/locker.ts'
import { createPostgresPool } from '../contestants/postgres-pool.ts'

const ACQUIRE = { name: 'acquire', text: 'SELECT pg_advisory_lock(hashtextextended($1, 0))' }
const RELEASE = { name: 'release', text: 'SELECT pg_advisory_unlock(hashtextextended($1, 0))' }

/** A lock of this kind belongs to a connection: whoever holds one or waits for one has one. */
export function createPostgresAdvisoryLocker(url: string, connections: number): Locker {
  const pool = createPostgresPool(url, connections)
  return {
    async cycle(key, run) {
      const client = await pool.connect()
      await client.query({ ...ACQUIRE, values: [key] })
      await run()
      await client.query({ ...RELEASE, values: [key] })
      client.release()
    },
    close: () => pool.end(),
  }
}

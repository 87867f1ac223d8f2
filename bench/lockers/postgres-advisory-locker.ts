import { Pool } from 'pg'
import { startPostgres } from '../../test/services/postgres.ts'
import type { Locker } from '../locker.ts'

const ACQUIRE = { name: 'acquire', text: 'SELECT pg_advisory_lock(hashtextextended($1, 0))' }
const RELEASE = { name: 'release', text: 'SELECT pg_advisory_unlock(hashtextextended($1, 0))' }

/** A lock of this kind belongs to a connection: whoever holds one or waits for one has one. */
export async function openPostgresAdvisoryLocker(connections: number): Promise<Locker> {
  const service = await startPostgres()
  // Connections last for as long as the bench, and are not made anew after another one's turn.
  const pool = new Pool({ connectionString: service.url, max: connections, idleTimeoutMillis: 0 })
  // The pool says good-bye without waiting, so the server may end a connection first.
  pool.on('error', () => {})
  return {
    async cycle(key, run) {
      const client = await pool.connect()
      await client.query({ ...ACQUIRE, values: [key] })
      await run()
      await client.query({ ...RELEASE, values: [key] })
      client.release()
    },
    close: async () => {
      await pool.end()
      await service.stop()
    },
  }
}

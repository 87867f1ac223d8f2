import { createPool, type PoolConnection, type RowDataPacket } from 'mysql2/promise'
import type { Locker } from '../contestants/locker.ts'

/** It has no word for ever. */
const WAIT_S = 3_600
const ACQUIRE = `SELECT GET_LOCK(?, ${WAIT_S}) AS is_done`
const RELEASE = 'SELECT RELEASE_LOCK(?) AS is_done'

/** A lock of this kind belongs to a connection: whoever holds one or waits for one has one. */
export function createMariadbGetLockLocker(url: string, connections: number): Locker {
  const pool = createPool({ uri: url, connectionLimit: connections, maxIdle: connections })
  return {
    async cycle(key, run) {
      const connection = await pool.getConnection()
      await ask(connection, ACQUIRE, key)
      await run()
      await ask(connection, RELEASE, key)
      connection.release()
    },
    close: () => pool.end(),
  }
}

async function ask(connection: PoolConnection, statement: string, key: string): Promise<void> {
  const [rows] = await connection.execute<RowDataPacket[]>(statement, [key])
  if (rows[0]?.['is_done'] !== 1) throw new Error(`${statement}: ${JSON.stringify(rows)}`)
}

import { createPool, type ResultSetHeader } from 'mysql2/promise'
import { type Locker, TTL_MS } from '../contestants/locker.ts'
import { createRowLockCycle } from '../contestants/row-lock.ts'
import type { SqlLockerOptions } from '../contestants/sql-locker-options.ts'

const CREATE = `
CREATE TABLE IF NOT EXISTS row_locks (
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY,
  owner CHAR(36) CHARACTER SET ascii,
  expires_at DATETIME(3) NOT NULL
)`
const NEVER = `'1970-01-01'`
const ADD = `INSERT IGNORE INTO row_locks (name, expires_at) VALUES (?, ${NEVER})`
const TAKE = `
UPDATE row_locks SET owner = ?, expires_at = NOW(3) + INTERVAL ${TTL_MS * 1000} MICROSECOND
WHERE name = ? AND expires_at <= NOW(3)`
const FREE = `UPDATE row_locks SET owner = NULL, expires_at = ${NEVER} WHERE name = ? AND owner = ?`

export async function openMariadbRowLocker(
  url: string,
  { connections, retryMs }: Required<SqlLockerOptions>,
): Promise<Locker> {
  const pool = createPool({ uri: url, connectionLimit: connections, maxIdle: connections })
  await pool.query(CREATE)
  const run = async (statement: string, values: readonly string[]): Promise<number> => {
    const [{ affectedRows }] = await pool.execute<ResultSetHeader>(statement, [...values])
    return affectedRows
  }
  const cycle = createRowLockCycle(
    {
      add: (key) => run(ADD, [key]),
      take: (key, owner) => run(TAKE, [owner, key]),
      free: (key, owner) => run(FREE, [key, owner]),
    },
    retryMs,
  )
  return { cycle, close: () => pool.end() }
}

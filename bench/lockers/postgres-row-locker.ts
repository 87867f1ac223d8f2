import { type Locker, TTL_MS } from '../contestants/locker.ts'
import { createPostgresPool } from '../contestants/postgres-pool.ts'
import { createRowLockCycle } from '../contestants/row-lock.ts'
import type { SqlLockerOptions } from '../contestants/sql-locker-options.ts'

const CREATE = `
CREATE TABLE IF NOT EXISTS row_locks (
  key text PRIMARY KEY, owner text, expires_at timestamptz NOT NULL
)`
const ADD = {
  name: 'add',
  text: `INSERT INTO row_locks (key, expires_at) VALUES ($1, '-infinity') ON CONFLICT DO NOTHING`,
}
const TAKE = {
  name: 'take',
  text: `
UPDATE row_locks SET owner = $2, expires_at = now() + interval '${TTL_MS} ms'
WHERE key = $1 AND expires_at <= now()`,
}
const FREE = {
  name: 'free',
  text: `
UPDATE row_locks SET owner = NULL, expires_at = '-infinity' WHERE key = $1 AND owner = $2`,
}

export async function openPostgresRowLocker(
  url: string,
  { connections, retryMs }: Required<SqlLockerOptions>,
): Promise<Locker> {
  const pool = createPostgresPool(url, connections)
  await pool.query(CREATE)
  const cycle = createRowLockCycle(
    {
      add: (key) => pool.query({ ...ADD, values: [key] }),
      take: async (key, owner) =>
        (await pool.query({ ...TAKE, values: [key, owner] })).rowCount ?? 0,
      free: (key, owner) => pool.query({ ...FREE, values: [key, owner] }),
    },
    retryMs,
  )
  return { cycle, close: () => pool.end() }
}

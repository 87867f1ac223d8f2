import { LockFactory } from '@verrou/core'
import { kyselyStore } from '@verrou/core/drivers/kysely'
import { type Dialect, Kysely, MysqlDialect, PostgresDialect } from 'kysely'
import { createPool } from 'mysql2'
import { type Cycle, type Locker, TTL_MS } from '../contestants/locker.ts'
import { createPostgresPool } from '../contestants/postgres-pool.ts'
import type { SqlLockerOptions } from '../contestants/sql-locker-options.ts'
import { createVerrouRetry } from '../contestants/verrou-retry.ts'

/** verrou's own table and statements, through Kysely. */
export async function openVerrouSqlLocker(url: string, options: SqlLockerOptions): Promise<Locker> {
  const { connections, retryMs } = options
  const database = new Kysely<unknown>({ dialect: createDialect(url, connections) })
  // Two of them who create one table at once on a server that they share get in each other's way.
  const tableName = `verrou_${retryMs ?? 'default'}`
  const store = kyselyStore({ connection: database, tableName }).factory()
  const factory = new LockFactory(store, { retry: createVerrouRetry(retryMs) })
  const cycle: Cycle = async (key, run) => {
    const lock = factory.createLock(key, TTL_MS)
    await insist(() => lock.acquire())
    await run()
    await insist(() => lock.release())
  }
  // The table is there when the first lock is.
  await cycle('first', async () => {})
  return { cycle, close: () => database.destroy() }
}

/** MariaDB ends some of its inserts, updates and deletes of one row as deadlocks; they have to be repeated. */
async function insist(act: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await act()
      return
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== 'ER_LOCK_DEADLOCK') throw error
    }
  }
}

function createDialect(url: string, connections: number): Dialect {
  return url.startsWith('mysql:')
    ? new MysqlDialect({ pool: createPool({ uri: url, connectionLimit: connections }) })
    : new PostgresDialect({ pool: createPostgresPool(url, connections) })
}

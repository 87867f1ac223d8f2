import { Kysely, SqliteDialect } from 'kysely'
import type { SqlSchema } from '../schema/schema.ts'
import type { SqlDatabase } from '../sql-dialect.ts'
import { whenFree } from './sqlite-busy.ts'
import { sqliteDialect } from './sqlite-dialect.ts'
import { PreparedDatabase } from './sqlite-driver.ts'

/**
 * A database file. Every commit is on stable storage before it is answered; readers and the one writer do
 * not block each other. Not for network file systems: their locks are not to be relied on.
 */
export async function openSqlite(file: string): Promise<SqlDatabase> {
  const { DatabaseSync: Database } = await import('@photostructure/sqlite')
  const database = new Database(file, { timeout: 0 })
  try {
    for (const pragma of PRAGMAS) await whenFree(() => database.exec(`pragma ${pragma}`))
  } catch (error) {
    database.close()
    throw error
  }
  const db = new Kysely<SqlSchema>({
    dialect: new SqliteDialect({ database: new PreparedDatabase(database) }),
  })
  return {
    dialect: sqliteDialect,
    db,
    listen: async () => {},
    close: () => db.destroy(),
  }
}

const PRAGMAS = ['journal_mode = wal', 'synchronous = full']

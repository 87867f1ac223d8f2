import { openMysql } from '../../src/engines/sql/mysql/open-mysql.ts'
import { openPostgres } from '../../src/engines/sql/postgres/open-postgres.ts'
import type { SqlDatabase } from '../../src/engines/sql/sql-dialect.ts'
import { openSqlite } from '../../src/engines/sql/sqlite/open-sqlite.ts'

/** Where a database is, in a form that another process can be told. */
export interface DatabaseAddress {
  readonly kind: SqlDatabase['dialect']['name']
  /** The address of a server and its database, or the path of a file. */
  readonly where: string
  /** How often processes look where the database cannot tell them; as often as users' do when absent. */
  readonly pollMs?: number | undefined
}

const OPENERS = { sqlite: openSqlite, postgres: openPostgres, mysql: openMysql } as const

export async function openDatabase(address: DatabaseAddress): Promise<SqlDatabase> {
  const { kind, where, pollMs } = address
  const database = await OPENERS[kind](where)
  if (pollMs === undefined || database.dialect.pollMs === 0) return database
  return { ...database, dialect: { ...database.dialect, pollMs } }
}

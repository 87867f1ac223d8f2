import { openMysql } from '../../src/engines/sql/mysql/open-mysql.ts'
import { openPostgres } from '../../src/engines/sql/postgres/open-postgres.ts'
import type { SqlDatabase } from '../../src/engines/sql/sql-dialect.ts'
import { openSqlite } from '../../src/engines/sql/sqlite/open-sqlite.ts'

/** Where a database is, in a form that another process can be told. */
export interface DatabaseAddress {
  readonly kind: SqlDatabase['dialect']['name']
  /** The address of a server and its database, or the path of a file. */
  readonly where: string
}

const OPENERS = { sqlite: openSqlite, postgres: openPostgres, mysql: openMysql } as const

export function openDatabase({ kind, where }: DatabaseAddress): Promise<SqlDatabase> {
  return OPENERS[kind](where)
}

import { type RawBuilder, sql } from 'kysely'
import type { Connection, TableName, Upsert } from './sql-dialect.ts'

/** As SQLite and PostgreSQL say it. */
export function upsertOnConflict(table: TableName, { by, rows }: Upsert): RawBuilder<unknown> {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => !by.includes(column))
  const set = columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`)
  return sql`${insertInto(table, rows)}
    on conflict (${sql.join(by.map((column) => sql.ref(column)))}) do update set ${sql.join(set)}`
}

/** All rows in one statement; they have the same columns. */
export function insertInto(table: TableName, rows: Upsert['rows']): RawBuilder<unknown> {
  const columns = Object.keys(rows[0] ?? {})
  const tuples = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column] ?? null))})`)
  return sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values ${sql.join(tuples)}`
}

/** One statement after the other. */
export async function executeInTurn(
  db: Connection,
  statements: readonly RawBuilder<unknown>[],
): Promise<void> {
  for (const statement of statements) await statement.execute(db)
}

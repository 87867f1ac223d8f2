import { sql } from 'kysely'
import type { Connection, TableName, Upsert } from './sql-dialect.ts'

/** As SQLite and PostgreSQL say it. */
export async function upsertOnConflict(
  db: Connection,
  table: TableName,
  { by, rows }: Upsert,
): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  const columns = Object.keys(first).filter((column) => !by.includes(column))
  const set = columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`)
  await sql`${insertInto(table, rows)}
    on conflict (${sql.join(by.map((column) => sql.ref(column)))}) do update set ${sql.join(set)}`.execute(
    db,
  )
}

/** All rows in one statement; they have the same columns. */
export function insertInto(table: TableName, rows: Upsert['rows']): ReturnType<typeof sql> {
  const columns = Object.keys(rows[0] ?? {})
  const tuples = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column] ?? null))})`)
  return sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values ${sql.join(tuples)}`
}

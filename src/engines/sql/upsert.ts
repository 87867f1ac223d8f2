import { joined, type Statement, statement, type Value, words } from './statement.ts'
import type { Row, TableName, Upsert } from './sql-dialect.ts'

/** As SQLite and PostgreSQL say it. */
export function upsertOnConflict(table: TableName, { by, rows }: Upsert): Statement {
  const set = restOf({ by, rows }).map((column) => `${column} = excluded.${column}`)
  const conflict = `on conflict (${by.join(', ')}) do update set ${set.join(', ')}`
  return statement`${insertInto(table, rows)} ${words(conflict)}`
}

/** As SQLite and PostgreSQL say it. */
export function removeListed(from: TableName, column: string, ids: readonly number[]): Statement {
  return statement`delete from ${words(`${from} where ${column}`)} in (${joined(ids)})`
}

/** A database takes a text of 16 MiB or so, and the longest rows have 8 KiB, twice that with quotes. */
const ROWS_PER_STATEMENT = 500

/** Rows for as many statements as it takes. */
export function inParts(rows: readonly Row[]): (readonly Row[])[] {
  const parts: (readonly Row[])[] = []
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
    parts.push(rows.slice(from, from + ROWS_PER_STATEMENT))
  }
  return parts
}

/** However many rows there are. */
export function insertAll(table: TableName, rows: readonly Row[]): Statement[] {
  return inParts(rows).map((part) => insertInto(table, part))
}

/** All rows in one statement; they have the same columns. */
export function insertInto(table: TableName, rows: readonly Row[]): Statement {
  const columns = Object.keys(rows[0] ?? {})
  const texts = [`insert into ${table} (${columns.map(quoted).join(', ')}) values (`]
  const values: Value[] = []
  for (const row of rows) {
    for (const column of columns) {
      values.push(row[column] ?? null)
      texts.push(', ')
    }
    texts[texts.length - 1] = '), ('
  }
  texts[texts.length - 1] = ')'
  return { texts, values }
}

/** The columns that are set where the row is there. */
export function restOf({ by, rows }: Upsert): string[] {
  const names = Object.keys(rows[0] ?? {})
  return names.filter((name) => !by.includes(name)).map(quoted)
}

/** Some of the names are words of some databases. */
function quoted(name: string): string {
  return `"${name}"`
}

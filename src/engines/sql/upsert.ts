import { joined, type Statement, statement, type Value, words } from './statement.ts'
import type { Row, TableName, Upsert } from './sql-dialect.ts'

/** As SQLite and PostgreSQL say it. */
export function upsertOnConflict(table: TableName, put: Upsert): Statement {
  const { by, rows } = put
  const set = setFrom(put, (column) => `${column} = excluded.${column}`)
  const conflict = words(`on conflict (${by.join(', ')}) do update set`)
  return statement`${insertInto(table, rows)} ${conflict} ${set}`
}

/** What is set in rows that are there, each column to something of the new one. */
export function setFrom(put: Upsert, toSet: (column: string) => string): Statement {
  return words(restOf(put).map(toSet).join(', '))
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

/** Rows that are new, however many there are. A column in which none of them has anything is left out. */
export function insertAll(table: TableName, rows: readonly Row[]): Statement[] {
  return inParts(rows).map((part) => {
    const isUsed = (column: string): boolean => part.some((row) => row[column] !== null)
    return insertInto(table, part, Object.keys(part[0] ?? {}).filter(isUsed))
  })
}

/** All rows in one statement; they have the same columns. */
export function insertInto(
  table: TableName,
  rows: readonly Row[],
  columns: readonly string[] = Object.keys(rows[0] ?? {}),
): Statement {
  const into = words(`insert into ${table} (${columns.map(quoted).join(', ')})`)
  return statement`${into} values ${valuesOf(rows, columns)}`
}

/** A list of rows, each in brackets. */
export function valuesOf(rows: readonly Row[], columns: readonly string[]): Statement {
  const texts = ['(']
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
function restOf(put: Upsert): string[] {
  return columnsToSet(put)
    .filter((name) => !put.by.includes(name))
    .map(quoted)
}

/** The same, and those that say which row it is. */
export function columnsToSet({ fixed = [], rows }: Upsert): string[] {
  return Object.keys(rows[0] ?? {}).filter((name) => !fixed.includes(name))
}

/** Some of the names are words of some databases. */
function quoted(name: string): string {
  return `"${name}"`
}

import { CompiledQuery } from 'kysely'
import type { Connection } from './sql-dialect.ts'
import { type Rows, type Statement, toText, type Value } from './statement.ts'

/** What is longer goes in another text: a database takes one of 16 MiB or so, and a unit may be three bytes. */
const TEXT_UNITS_MAX = 1024 * 1024

/**
 * All in one text, and so in one round trip, where the database takes that. It stops at the first that
 * fails. Values are written out, because parameters are for one statement at a time.
 */
export async function runTogether(
  db: Connection,
  statements: readonly Statement[],
  toLiteral: (value: Value) => string,
): Promise<Rows[]> {
  const found: Rows[] = []
  let together: string[] = []
  let units = 0
  for (const one of statements) {
    const text = toText(one, toLiteral)
    if (units > 0 && units + text.length > TEXT_UNITS_MAX) {
      found.push(...(await runTexts(db, together)))
      together = []
      units = 0
    }
    together.push(text)
    units += text.length
  }
  return [...found, ...(await runTexts(db, together))]
}

async function runTexts(db: Connection, texts: readonly string[]): Promise<Rows[]> {
  const { rows } = await db.executeQuery(CompiledQuery.raw(texts.join('; ')))
  const found: unknown[] = texts.length === 1 ? [rows] : rows
  // A statement that finds nothing may have something else to say.
  return found.map((one) => (Array.isArray(one) ? (one as Rows) : []))
}

/** One after the other, where nothing lies between us and the database. */
export async function runInTurn(
  db: Connection,
  statements: readonly Statement[],
  {
    valuesMax,
    toLiteral,
  }: { readonly valuesMax: number; readonly toLiteral: (value: Value) => string },
): Promise<Rows[]> {
  const found: Rows[] = []
  for (const one of statements) {
    const isMany = one.values.length > valuesMax
    const query = isMany
      ? CompiledQuery.raw(toText(one, toLiteral))
      : CompiledQuery.raw(one.texts.join('?'), [...one.values])
    found.push((await db.executeQuery(query)).rows as Rows)
  }
  return found
}

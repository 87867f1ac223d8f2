import { type Kysely, sql } from 'kysely'
import { runInTurn } from '../run-statements.ts'
import type { SqlSchema } from '../schema/schema.ts'
import type {
  ColumnTypes,
  Connection,
  KeyName,
  SqlDialect,
  SqlFailure,
  TableName,
  Upsert,
  ViewTerms,
} from '../sql-dialect.ts'
import { type Statement, statement, toLiteral, type Value, words } from '../statement.ts'
import {
  columnsToSet,
  insertInto,
  removeListed,
  setFrom,
  upsertOnConflict,
  valuesOf,
} from '../upsert.ts'
import { isBusy, whenFree } from './sqlite-busy.ts'

/** Text is compared byte by byte here unless something else is asked for. */
const TYPES: ColumnTypes = {
  name: () => 'text',
  word: 'text',
  text: 'text',
  integer: 'integer',
  serial: 'integer primary key autoincrement',
  tableOptions: '',
}

/** In words that older versions of its shell know as well. */
const VIEWS: ViewTerms = {
  create: 'create view',
  nowMs: `cast((julianday('now') - 2440587.5) * 86400000 as integer)`,
  instant: (column) => `strftime('%Y-%m-%d %H:%M:%f', (${column}) / 1000.0, 'unixepoch')`,
  text: (column) => column,
}

/**
 * SQLite has one writer at a time: a transaction that begins `immediate` has everything, and whoever
 * comes meanwhile tries again. There is no way to be told what other processes did, so they look.
 */
export const sqliteDialect: SqlDialect = {
  name: 'sqlite',
  types: TYPES,
  views: VIEWS,
  transactions: 1,
  begin: ['begin immediate'],
  beginReading: ['begin deferred'],
  nowMs: `cast(unixepoch('now', 'subsec') * 1000 as integer)`,
  forUpdate: '',
  forShare: '',
  skipLocked: '',
  // Whoever writes is alone.
  watch: { row: 1, untilMs: 'watched_until_ms' },
  pollMs: 25,
  useIndex: () => '',

  run: (db, statements) => runInTurn(db, statements, WRITTEN_OUT),

  upsert: upsertOnConflict,

  change(table: TableName, put: Upsert): Statement {
    const columns = columnsToSet(put)
    const named = columns.map((column, index) => `column${index + 1} as "${column}"`)
    const fresh = statement`select ${words(named.join(', '))} from (values ${valuesOf(put.rows, columns)})`
    const same = put.by.map((column) => `${table}.${column} = fresh.${column}`)
    return statement`update ${words(table)}
      set ${setFrom(put, (column) => `${column} = fresh.${column}`)}
      from (${fresh}) as fresh where ${words(same.join(' and '))}`
  },

  removeAll: removeListed,

  insertKeys(names: readonly KeyName[]): Statement[] {
    const rows = names.map(({ space, name }) => ({ space, name }))
    return [
      statement`${insertInto('holdfast_keys', rows)}
        on conflict (space, name) do update set token = token returning *`,
    ]
  },

  async exclusively(db: Kysely<SqlSchema>, work: (db: Connection) => Promise<void>): Promise<void> {
    await db.connection().execute(async (connection) => {
      await whenFree(() => sql`begin immediate`.execute(connection))
      try {
        await work(connection)
        await sql`commit`.execute(connection)
      } catch (error) {
        await sql`rollback`.execute(connection)
        throw error
      }
    })
  },

  ring: () => [],

  classify(error: unknown): SqlFailure {
    return isBusy(error) ? 'conflict' : 'other'
  },
}

/** A statement takes 32,766 parameters. */
const WRITTEN_OUT = {
  valuesMax: 32_000,
  toLiteral: (value: Value): string =>
    toLiteral(value, (text) => `'${text.replaceAll("'", "''")}'`),
}

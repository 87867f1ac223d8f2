import { type Kysely, type Selectable, sql } from 'kysely'
import type { KeyTable, SqlSchema } from '../schema.ts'
import type {
  ColumnTypes,
  Connection,
  KeyName,
  SqlDialect,
  SqlFailure,
  ViewTerms,
} from '../sql-dialect.ts'
import { executeInTurn, insertInto, upsertOnConflict } from '../upsert.ts'
import { isBusy, whenFree } from './sqlite-busy.ts'

const NOTHING = sql``

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
  begin: 'begin immediate',
  beginReading: ['begin deferred'],
  nowMs: sql<number>`cast(unixepoch('now', 'subsec') * 1000 as integer)`,
  forUpdate: NOTHING,
  forShare: NOTHING,
  skipLocked: NOTHING,
  pollMs: 25,

  upsert: upsertOnConflict,
  executeAll: executeInTurn,

  async insertKeys(db: Connection, names: readonly KeyName[]): Promise<Selectable<KeyTable>[]> {
    const rows = names.map(({ space, name }) => ({ space, name }))
    const inserted = await sql<Selectable<KeyTable>>`${insertInto('holdfast_keys', rows)}
      on conflict (space, name) do update set token = token returning *`.execute(db)
    return inserted.rows
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

  ring: async () => {},

  classify(error: unknown): SqlFailure {
    return isBusy(error) ? 'conflict' : 'other'
  },
}

import { type Kysely, sql } from 'kysely'
import type { SqlSchema } from '../schema.ts'
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
import { upsertOnConflict } from '../upsert.ts'
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

  upsert: (db: Connection, table: TableName, put: Upsert) => upsertOnConflict(db, table, put),

  async insertKeys(db: Connection, names: readonly KeyName[]): Promise<void> {
    await db
      .insertInto('holdfast_keys')
      .values(names.map(({ space, name }) => ({ space, name, ...NEW_KEY })))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
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

const NEW_KEY = {
  token: 0,
  holds: 0,
  waiters: 0,
  refs: 0,
  successes: 0,
  next_place: 1,
  ended_count: 0,
} as const

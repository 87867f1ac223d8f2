import { type Kysely, sql } from 'kysely'
import type { SqlSchema } from '../schema.ts'
import { isSocketFailure } from '../socket-failure.ts'
import type {
  ColumnTypes,
  Connection,
  KeyName,
  SqlDialect,
  SqlFailure,
  TableName,
  Upsert,
} from '../sql-dialect.ts'
import { insertInto, upsertOnConflict } from '../upsert.ts'
import { CHANNEL, toPayloads } from './postgres-ring.ts'

/** The collation of the database may take two names for one, or order them by its language. */
const TYPES: ColumnTypes = {
  name: () => 'text collate "C"',
  word: 'text collate "C"',
  text: 'text',
  integer: 'bigint',
  serial: 'bigint generated always as identity primary key',
  tableOptions: '',
}

const BEGIN = 'begin isolation level read committed'

/** Locks the rows it finds, so each process runs into the other at the key's row and nowhere else. */
export const postgresDialect: SqlDialect = {
  name: 'postgres',
  types: TYPES,
  transactions: 4,
  begin: BEGIN,
  beginReading: ['begin isolation level repeatable read read only'],
  // Not `now()`: that is when the transaction began, and it may have waited for a row since.
  nowMs: sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  forUpdate: sql`for update`,
  forShare: sql`for share`,
  skipLocked: sql`for update skip locked`,
  pollMs: 0,

  upsert: (db: Connection, table: TableName, put: Upsert) => upsertOnConflict(db, table, put),

  async insertKeys(db: Connection, names: readonly KeyName[]): Promise<void> {
    if (names.length === 0) return
    const rows = names.map(({ space, name }) => ({ space, name }))
    // An update that changes nothing locks the rows that were there; `do nothing` would not.
    await sql`${insertInto('holdfast_keys', rows)}
      on conflict (space, name) do update set token = holdfast_keys.token`.execute(db)
  },

  /** A lock of the transaction and not of the session: those are lost or leaked behind a pooler. */
  async exclusively(db: Kysely<SqlSchema>, work: (db: Connection) => Promise<void>): Promise<void> {
    await db.connection().execute(async (connection) => {
      await sql.raw(BEGIN).execute(connection)
      try {
        await sql`select pg_advisory_xact_lock(${MIGRATIONS_LOCK})`.execute(connection)
        await work(connection)
        await sql`commit`.execute(connection)
      } catch (error) {
        await sql`rollback`.execute(connection).catch(() => {})
        throw error
      }
    })
  },

  async ring(db: Connection, processes: readonly string[]): Promise<void> {
    const calls = toPayloads(processes).map((payload) => sql`pg_notify(${CHANNEL}, ${payload})`)
    if (calls.length > 0) await sql`select ${sql.join(calls)}`.execute(db)
  },

  classify(error: unknown): SqlFailure {
    const { code, message = '' } = error as { code?: unknown; message?: string }
    if (CONFLICTS.has(code)) return 'conflict'
    const isLost = CONNECTION_CODE.test(String(code)) || CONNECTION_MESSAGE.test(message)
    return isLost || isSocketFailure(error) ? 'connection' : 'other'
  },
}

/** Any number that other users of the database are unlikely to have chosen: "holdfast" in ASCII, cut. */
const MIGRATIONS_LOCK = 0x686f_6c64_6661

const CONFLICTS: ReadonlySet<unknown> = new Set([
  '40001', // Serialization failure.
  '40P01', // Deadlock.
  '55P03', // The lock was not available in time.
  '57014', // A time limit of the server cancelled the statement.
])

/** Class 08, too many connections, a server that shuts down or starts, and its limits on idle ones. */
const CONNECTION_CODE = /^(08...|53300|57P0[1-5]|25P0[34])$/

/** What the driver says without a code. */
const CONNECTION_MESSAGE =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout e(xceeded|xpired) |Query read timeout)|is not queryable/

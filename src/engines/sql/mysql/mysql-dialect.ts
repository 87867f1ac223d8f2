import type { Kysely } from 'kysely'
import { lockKeys } from '../snapshot/key-loader.ts'
import { runTogether } from '../run-statements.ts'
import type { SqlSchema } from '../schema/schema.ts'
import { isSocketFailure } from '../socket-failure.ts'
import type {
  ColumnTypes,
  Connection,
  OptimisticTerms,
  KeyName,
  SqlDialect,
  SqlFailure,
  TableName,
  Upsert,
  ViewTerms,
  WatchTerms,
} from '../sql-dialect.ts'
import { joined, type Statement, statement, toLiteral, words } from '../statement.ts'
import { insertInto, setFrom } from '../upsert.ts'
import { withSchemaLock } from './mysql-schema-lock.ts'

/** Every collation of text takes some different names for one, if only by the spaces at their ends. */
const TYPES: ColumnTypes = {
  name: (bytesMax) => `varbinary(${bytesMax})`,
  word: 'varchar(64) character set ascii collate ascii_bin',
  text: 'mediumtext character set utf8mb4 collate utf8mb4_bin',
  integer: 'bigint',
  serial: 'bigint not null auto_increment primary key',
  tableOptions: ' engine=InnoDB',
}

/** Without the time zone of the session, in which an hour may come twice. */
const VIEWS: ViewTerms = {
  create: 'create or replace sql security invoker view',
  nowMs: `timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(3)) div 1000`,
  instant: (column) =>
    `cast(timestampadd(microsecond, (${column}) * 1000, '1970-01-01 00:00:00') as datetime(3))`,
  text: (column) => `convert(${column} using utf8mb4) collate utf8mb4_bin`,
}

/**
 * Those that decide share the row until they are over, and whoever writes it waits for them. Those that
 * come meanwhile do not wait in turn: they find nothing. MySQL and MariaDB say that in different words,
 * and each takes those of the other for a comment.
 */
const WATCH: WatchTerms = {
  row: 2,
  untilMs: `(select watched_until_ms from holdfast_state where id = 2
    /*!80001 for share skip locked */ /*M!100600 lock in share mode skip locked */)`,
}

const MORE_THAN_ONE_ROW = 1242

/** A division by zero would be nothing here. */
const GUESS: OptimisticTerms = {
  failUnless: (condition) =>
    statement`(select 1 union all select 1 from dual where (${condition}) is not true)`,
  isRefuted: (error) => (error as { errno?: unknown }).errno === MORE_THAN_ONE_ROW,
}

/**
 * MySQL 8 and MariaDB 10.6, and those that are newer. Sessions are set up in `open-mysql.ts`, and what is
 * here relies on it: read committed, UTC, and quotes as in standard SQL.
 */
export const mysqlDialect: SqlDialect = {
  name: 'mysql',
  types: TYPES,
  views: VIEWS,
  transactions: 4,
  begin: ['start transaction'],
  beginReading: [
    'set transaction isolation level repeatable read',
    'start transaction with consistent snapshot, read only',
  ],
  // Not `now()`: that is when the statement began, and it may have waited for a row since.
  nowMs: 'cast(unix_timestamp(sysdate(3)) * 1000 as signed)',
  forUpdate: 'for update',
  // MariaDB does not know `for share`.
  forShare: 'lock in share mode',
  skipLocked: 'for update skip locked',
  watch: WATCH,
  guess: GUESS,
  pollMs: 50,
  // Of a small table, or for a long list, it would read all rows, and lock them.
  useIndex: (name) => `force index (${name})`,

  run: (db, statements) => runTogether(db, statements, (value) => toLiteral(value, quote)),

  upsert(table: TableName, put: Upsert): Statement {
    // MariaDB does not know the alias for new rows that MySQL would rather have.
    const set = setFrom(put, (column) => `${column} = values(${column})`)
    return statement`${insertInto(table, put.rows)} on duplicate key update ${set}`
  },

  /** A list of new rows to join takes longer. */
  change(table: TableName, put: Upsert): Statement {
    return this.upsert(table, put)
  },

  /** A delete knows no hint. What is joined first is the list, and each of its numbers is looked up. */
  removeAll(from: TableName, column: string, ids: readonly number[]): Statement {
    const [first = 0] = ids
    if (ids.length === 1)
      return statement`delete from ${words(`${from} where ${column}`)} = ${first}`
    const list = joined(
      ids.map((id) => statement`select ${id} as id`),
      ' union all ',
    )
    const rows = words(`${from} on ${from}.${column} = listed.id`)
    return statement`delete ${words(from)} from (${list}) listed straight_join ${rows}`
  },

  insertKeys(names: readonly KeyName[]): Statement[] {
    const rows = names.map(({ space, name }) => ({ space, name }))
    // `insert ignore` would share the rows that were there, and whoever then wants one alone deadlocks.
    const insert = statement`${insertInto('holdfast_keys', rows)}
      on duplicate key update token = token`
    return [insert, lockKeys(this, names)]
  },

  /** Not a transaction, because a change to the schema would end it. */
  async exclusively(db: Kysely<SqlSchema>, work: (db: Connection) => Promise<void>): Promise<void> {
    await db
      .connection()
      .execute((connection) => withSchemaLock(connection, () => work(connection)))
  },

  ring: () => [],

  classify(error: unknown): SqlFailure {
    const {
      errno,
      code,
      message = '',
    } = error as Partial<Record<'errno' | 'code', unknown>> & {
      readonly message?: string
    }
    if (CONFLICTS.has(errno)) return 'conflict'
    if (STANDBYS.has(errno)) return 'standby'
    const isLost =
      CONNECTION_NUMBERS.has(errno) ||
      CONNECTION_CODES.has(code) ||
      CONNECTION_MESSAGE.test(message)
    return isLost || isSocketFailure(error) ? 'connection' : 'other'
  },

  isDoneBefore: (error: unknown) => DONE_BEFORE.has((error as { errno?: unknown }).errno),
}

const CONFLICTS: ReadonlySet<unknown> = new Set([
  1213, // Deadlock.
  1205, // The lock was not available in time.
  1020, // The record has changed since it was read.
  1317, // An operator stopped the statement.
  1969, // A time limit of the server stopped it, on MariaDB,
  3024, // and on MySQL.
  3572, // The lock was not available at once.
  3101, // Another member of the group has changed the rows.
])

const STANDBYS: ReadonlySet<unknown> = new Set([
  1290, // Set to read only,
  1836, // or started so.
  1047, // A member of a cluster that is not part of it at the moment.
])

const CONNECTION_NUMBERS: ReadonlySet<unknown> = new Set([
  1040, // Too many connections,
  1203, // and too many of this user.
  1053, // The server shuts down,
  1077,
  1079,
  1080,
  1152, // The connection was aborted,
  1184,
  1158, // or broke while something was read
  1159,
  1160, // or written.
  1161,
  1927, // An operator ended it, on MariaDB,
  3169, // and on MySQL.
  4031, // It was idle for too long.
  2006, // The server has gone away,
  2013, // in the middle of a statement.
])

const CONNECTION_CODES: ReadonlySet<unknown> = new Set([
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'PROTOCOL_UNEXPECTED_PACKET',
])

/** What the driver says without a code. */
const CONNECTION_MESSAGE = /in closed state|^Connection is closed|^Connection lost/

/** The table, the column, the index, or the row is there; the column or the index is gone. */
const DONE_BEFORE: ReadonlySet<unknown> = new Set([1050, 1060, 1061, 1062, 1091])

/** In hexadecimal where a mode of the server could give a character another meaning. */
function quote(text: string): string {
  return UNSAFE.test(text) ? `x'${Buffer.from(text).toString('hex')}'` : `'${text}'`
}

const UNSAFE = /['\\\0]/

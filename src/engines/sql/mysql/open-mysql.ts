import type { Socket } from 'node:net'
import { Kysely, MysqlDialect, type MysqlPool, type MysqlPoolConnection, sql } from 'kysely'
import type { Pool, PoolConnection, QueryError, TypeCastField, TypeCastNext } from 'mysql2'
import type { SqlSchema } from '../schema/schema.ts'
import { type ConnectOptions, SilenceLimit } from '../silence.ts'
import type { SqlDatabase } from '../sql-dialect.ts'
import { mysqlDialect } from './mysql-dialect.ts'

/** Besides the transactions: reads, and whoever finds a connection dead and needs another at once. */
const CONNECTIONS_MAX: number = mysqlDialect.transactions + 2
const CONNECT_MS_MAX = 5000
const KEEP_ALIVE_AFTER_MS = 10_000

/** A database of MySQL or MariaDB; the address names it. */
export async function openMysql(url: string, options: ConnectOptions = {}): Promise<SqlDatabase> {
  const { createPool } = await import('mysql2')
  const pool = createPool({
    uri: url,
    charset: 'utf8mb4',
    connectionLimit: CONNECTIONS_MAX,
    connectTimeout: CONNECT_MS_MAX,
    enableKeepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_AFTER_MS,
    multipleStatements: true,
    decimalNumbers: true,
    typeCast: toText,
  })
  // Only a connection that somebody uses keeps the process alive.
  const silence = new SilenceLimit(options)
  pool.on('connection', (connection) => silence.watch(socketOf(connection)))
  pool.on('acquire', (connection) => {
    socketOf(connection).ref()
    silence.onAcquired(socketOf(connection))
  })
  pool.on('release', (connection) => {
    socketOf(connection).unref()
    silence.onReleased(socketOf(connection))
  })
  const db = new Kysely<SqlSchema>({ dialect: new MysqlDialect({ pool: settle(pool) }) })
  try {
    const warnings = await findWarnings(db)
    return {
      dialect: mysqlDialect,
      db,
      warnings,
      listen: async () => {},
      close: () => db.destroy(),
    }
  } catch (error) {
    await db.destroy()
    throw error
  }
}

/** The types of the driver do not show it. */
function socketOf(connection: object): Socket {
  return (connection as { readonly stream: Socket }).stream
}

/** Names are bytes to the database, and the driver would make buffers of them. */
function toText(field: TypeCastField, next: TypeCastNext): unknown {
  return BYTES.has(field.type) ? field.string('utf8') : next()
}

const BYTES: ReadonlySet<string> = new Set([
  'VAR_STRING',
  'STRING',
  'BLOB',
  'MEDIUM_BLOB',
  'LONG_BLOB',
])

/**
 * Nothing is left to how the server is set up. Names are cut without a word unless the mode is strict, a
 * backslash in a name must mean what the driver takes it for, and a time zone has hours that come twice.
 */
const SETTLE: readonly string[] = [
  `set session sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
    session time_zone = '+00:00', session autocommit = 1`,
  'set session transaction isolation level read committed',
]

function settle(pool: Pool): MysqlPool {
  const settled = new WeakMap<PoolConnection, MysqlPoolConnection>()
  return {
    getConnection(callback): void {
      const answer = callback as (error: unknown, connection?: MysqlPoolConnection) => void
      pool.getConnection((failure, connection) => {
        if (failure !== null) return answer(failure)
        const known = settled.get(connection)
        if (known !== undefined) return answer(null, known)
        settleOne(connection).then(
          () => {
            const one = leavingStandbys(connection)
            settled.set(connection, one)
            answer(null, one)
          },
          (error: unknown) => {
            connection.destroy()
            answer(error)
          },
        )
      })
    },
    end: (callback) => pool.end(callback),
  }
}

async function settleOne(connection: PoolConnection): Promise<void> {
  for (const statement of SETTLE)
    await new Promise<void>((resolve, reject) => {
      connection.query(statement, (error) => (error === null ? resolve() : reject(error)))
    })
}

/** A connection to a standby is not used again. */
function leavingStandbys(connection: PoolConnection): MysqlPoolConnection {
  let isStandby = false
  type Answer = (error: QueryError | null, result: unknown) => void
  const query = (text: string, values: unknown[], answer: Answer): void => {
    connection.query(text, values, (error, result) => {
      isStandby ||= error !== null && mysqlDialect.classify(error) === 'standby'
      answer(error, result)
    })
  }
  const release = (): void => (isStandby ? connection.destroy() : connection.release())
  return { query, release } as MysqlPoolConnection
}

async function findWarnings(db: Kysely<SqlSchema>): Promise<string[]> {
  const { rows } = await sql<{
    flushes: number
  }>`select @@innodb_flush_log_at_trx_commit as flushes`.execute(db)
  return rows[0]?.flushes === 1
    ? []
    : [
        'innodb_flush_log_at_trx_commit is not 1: locks may be forgotten when the database or its machine fails',
      ]
}

import type { Socket } from 'node:net'
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely'
import type { ClientConfig, Pool, PoolClient, QueryResult } from 'pg'
import type { SqlSchema } from '../schema/schema.ts'
import { type ConnectOptions, SilenceLimit } from '../silence.ts'
import type { SqlDatabase } from '../sql-dialect.ts'
import { BEGIN_AS_SET, postgresDialect } from './postgres-dialect.ts'
import { PostgresListener } from './postgres-listener.ts'

type Driver = typeof import('pg')

/** Besides the transactions: reads, and whoever finds a connection dead and needs another at once. */
const CONNECTIONS_MAX: number = postgresDialect.transactions + 2
const CONNECT_MS_MAX = 5000
const KEEP_ALIVE_AFTER_MS = 10_000
const PULSE_MS_MAX = 3000

/** As numbers: instants and counts are below 2^53. The driver makes strings of them. */
const BIGINT = 20
const NUMERIC = 1700

/** A database of PostgreSQL 12 or newer; tables are made where its `search_path` points. */
export async function openPostgres(
  url: string,
  options: ConnectOptions = {},
): Promise<SqlDatabase> {
  const driver = await import('pg')
  const config = configure(driver, url)
  const pool = new driver.Pool({ ...config, max: CONNECTIONS_MAX, allowExitOnIdle: true })
  // A connection that is cut is replaced when the next one is needed. Whoever was using it hears of it by
  // the statement; the events that tell it besides would end the process.
  pool.on('error', () => {})
  const silence = new SilenceLimit(options)
  pool.on('connect', (client) => {
    client.on('error', () => {})
    silence.watch(socketOf(client))
  })
  pool.on('acquire', (client) => silence.onAcquired(socketOf(client)))
  pool.on('release', (_error, client) => silence.onReleased(socketOf(client)))
  const db = new Kysely<SqlSchema>({ dialect: new PostgresDialect({ pool: withScriptsOf(pool) }) })
  const listeners: PostgresListener[] = []
  const close = async (): Promise<void> => {
    await Promise.all([...listeners.map((listener) => listener.close()), db.destroy()])
  }
  try {
    const { commits, warnings } = await readSettings(db)
    return {
      dialect:
        commits === 'remote_apply' ? { ...postgresDialect, begin: BEGIN_AS_SET } : postgresDialect,
      db,
      warnings,
      async listen(process: string, onRing: () => void): Promise<void> {
        const createClient = (): InstanceType<Driver['Client']> =>
          new driver.Client({ ...config, query_timeout: PULSE_MS_MAX })
        const listener = new PostgresListener({ createClient, process, onRing })
        listeners.push(listener)
        await listener.start()
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The types of the driver do not show it. */
function socketOf(client: object): Socket {
  return (client as { readonly connection: { readonly stream: Socket } }).connection.stream
}

function configure(driver: Driver, url: string): ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    fallback_application_name: 'holdfast',
    types: {
      getTypeParser: (oid, format) =>
        oid === BIGINT || oid === NUMERIC ? Number : driver.types.getTypeParser(oid, format),
    },
  }
}

function withScriptsOf(pool: Pool): PostgresPool {
  const known = new WeakMap<PoolClient, PostgresPoolClient>()
  return {
    async connect(): Promise<PostgresPoolClient> {
      const client = await pool.connect()
      const one = known.get(client) ?? withScripts(client)
      known.set(client, one)
      return one
    },
    end: () => pool.end(),
  }
}

/**
 * A text of several statements has several results, and these are the rows then; Kysely knows of one only.
 * A connection to a standby is not used again.
 */
function withScripts(client: PoolClient): PostgresPoolClient {
  let isStandby = false
  const query = async (text: string, values: readonly unknown[]): Promise<unknown> => {
    const result: unknown = await client.query(text, [...values]).catch((error: unknown) => {
      isStandby ||= postgresDialect.classify(error) === 'standby'
      throw error
    })
    if (!Array.isArray(result)) return result
    return { command: 'SELECT', rowCount: 0, rows: result.map(({ rows }: QueryResult) => rows) }
  }
  return { query, release: () => client.release(isStandby) } as PostgresPoolClient
}

async function readSettings(
  db: Kysely<SqlSchema>,
): Promise<{ readonly commits: string | undefined; readonly warnings: readonly string[] }> {
  const { rows } = await sql<{ commits: string; fsync: string }>`
    select current_setting('synchronous_commit') as commits, current_setting('fsync') as fsync
  `.execute(db)
  const warnings =
    rows[0]?.fsync === 'on'
      ? []
      : ['fsync is off: locks may be forgotten when the machine of the database fails']
  return { commits: rows[0]?.commits, warnings }
}

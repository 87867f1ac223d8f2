import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '../../../src/engines/sql/schema/migrate.ts'
import { openMysql } from '../../../src/engines/sql/mysql/open-mysql.ts'
import { mysqlDialect } from '../../../src/engines/sql/mysql/mysql-dialect.ts'
import { openPostgres } from '../../../src/engines/sql/postgres/open-postgres.ts'
import { postgresDialect } from '../../../src/engines/sql/postgres/postgres-dialect.ts'
import type { SqlDatabase } from '../../../src/engines/sql/sql-dialect.ts'
import { KEY_BYTES_MAX } from '../../../src/engine/validation/limits.ts'
import { FaultProxy } from '../../../src/testing/fault-proxy.ts'
import { startMariadb } from '../../services/mariadb.ts'
import { startPostgres } from '../../services/postgres.ts'
import { OWN, type Service } from '../../services/service.ts'
import { createGate, readNowMs, transact } from './commit/row-locks.ts'

const START_MS_MAX = 60_000
/** Far more than clocks differ, far less than time zones do. */
const CLOCKS_DIFFER_MS_MAX = 600_000

const SERVERS = [
  {
    name: 'postgres',
    start: startPostgres,
    open: openPostgres,
    dialect: postgresDialect,
    settings: [
      "alter system set timezone = 'Asia/Kolkata'",
      "alter system set default_transaction_isolation = 'repeatable read'",
      'select pg_reload_conf()',
    ],
  },
  {
    name: 'mysql',
    start: startMariadb,
    open: openMysql,
    dialect: mysqlDialect,
    settings: [
      "set global time_zone = '+05:30'",
      "set global sql_mode = 'NO_BACKSLASH_ESCAPES'",
      'set global transaction isolation level repeatable read',
      'set global autocommit = 0',
    ],
  },
] as const

describe.each(SERVERS)('a server of $name', ({ start, open, dialect, settings }) => {
  let service: Service
  const opened: SqlDatabase[] = []

  async function openOne(): Promise<SqlDatabase> {
    const database = await open(service.url)
    opened.push(database)
    return database
  }

  beforeAll(async () => {
    service = await start(OWN)
    const administrator = await openOne()
    for (const setting of settings) await sql.raw(setting).execute(administrator.db)
    await migrate(administrator)
  }, START_MS_MAX)
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()))
  })
  afterAll(() => service.stop())

  it('tells the time whatever its time zone', async () => {
    const database = await openOne()
    const nowMs = await readNowMs(database, database.db)
    expect(Number.isInteger(nowMs)).toBe(true)
    expect(Math.abs(nowMs - Date.now())).toBeLessThan(CLOCKS_DIFFER_MS_MAX)
  })

  it('shows a transaction what others committed, whatever its isolation', async () => {
    const [database, other] = await Promise.all([openOne(), openOne()])
    const seen = await transact(database, async (db) => {
      await db.selectFrom('holdfast_refs').selectAll().execute()
      await other.db
        .insertInto('holdfast_refs')
        .values({ key_id: 1, node: 'n', since_ms: 1 })
        .execute()
      return db.selectFrom('holdfast_refs').selectAll().execute()
    })
    expect(seen).toHaveLength(1)
  })

  it('keeps a name as it is and refuses one that is too long, however lax it is', async () => {
    const { db } = await openOne()
    const make = (one: string): Promise<unknown> =>
      dialect.run(db, dialect.insertKeys([{ space: 'lock', name: one }]))
    const name = "\\'; -- \\"
    await make(name)
    const rows = await db
      .selectFrom('holdfast_keys')
      .select('name')
      .where('name', '=', name)
      .execute()
    expect(rows).toEqual([{ name }])
    if (dialect !== mysqlDialect) return
    const long = 'x'.repeat(KEY_BYTES_MAX + 1)
    await expect(make(long)).rejects.toThrow('too long')
  })

  it(
    'is reported where it does not bring commits to the disk, and only there',
    async () => {
      const durable = await start({ ...OWN, isDurable: true })
      try {
        const database = await open(durable.url)
        await database.close()
        expect(database.warnings).toEqual([])
      } finally {
        await durable.stop()
      }
      expect((await openOne()).warnings).toEqual([expect.stringContaining('may be forgotten')])
    },
    START_MS_MAX,
  )

  it('serves those who wait for a connection when all that were in use are cut', async () => {
    await throughProxy(async (proxy, database) => {
      const isCut = createGate()
      const used = Array.from({ length: dialect.transactions + 2 }, () => {
        const isUsed = createGate()
        const work = transact(database, async (db) => {
          await sql`select 1`.execute(db)
          isUsed.open()
          await isCut.opened
          await sql`select 1`.execute(db)
        })
        return { isUsed: isUsed.opened, failure: work.catch((error: unknown) => error) }
      })
      await Promise.all(used.map(({ isUsed }) => isUsed))
      const waiting = Array.from({ length: 10 }, () => sql`select 1`.execute(database.db))
      proxy.resetConnections()
      isCut.open()
      for (const { failure } of used) expect(dialect.classify(await failure)).toBe('connection')
      expect(await Promise.all(waiting)).toHaveLength(10)
    })
  })

  it('serves everybody again when it was out of reach, however many asked meanwhile', async () => {
    await throughProxy(async (proxy, database) => {
      const ask = (): Promise<PromiseSettledResult<unknown>[]> =>
        Promise.allSettled(Array.from({ length: 20 }, () => sql`select 1`.execute(database.db)))
      proxy.set({ toServer: { kind: 'reset' }, toClient: { kind: 'reset' } })
      for (let round = 1; round <= 2; round += 1) {
        const failures = (await ask()).filter((end) => end.status === 'rejected')
        expect(failures).toHaveLength(20)
        for (const { reason } of failures) expect(dialect.classify(reason)).toBe('connection')
      }
      proxy.set({})
      expect((await ask()).filter((end) => end.status === 'rejected')).toEqual([])
    })
  })

  async function throughProxy(
    work: (proxy: FaultProxy, database: SqlDatabase) => Promise<void>,
  ): Promise<void> {
    const proxy = await FaultProxy.listen({ target: { port: service.port } })
    const url = new URL(service.url)
    url.port = String(proxy.port)
    const database = await open(url.href)
    try {
      await work(proxy, database)
    } finally {
      await proxy.close()
      await database.close()
    }
  }

  it('that is gone is a connection that is lost, or cannot be made', async () => {
    const database = await openOne()
    const lost = transact(database, async (db) => {
      await service.kill()
      await sql`select 1`.execute(db)
    })
    const refused = lost.catch(() => open(service.url))
    const again = lost.catch(() => sql`select 1`.execute(database.db))
    for (const failure of await Promise.allSettled([lost, refused, again])) {
      if (failure.status === 'fulfilled') throw new Error('it did not fail')
      expect(dialect.classify(failure.reason)).toBe('connection')
    }
  })
})

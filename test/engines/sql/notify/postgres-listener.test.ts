import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openPostgres } from '../../../../src/engines/sql/postgres/open-postgres.ts'
import { ALL_PROCESSES, type SqlDatabase } from '../../../../src/engines/sql/sql-dialect.ts'
import { Transactor } from '../../../../src/engines/sql/commit/transactor.ts'
import { FaultProxy } from '../../../../src/testing/fault-proxy.ts'
import { createGate, transact } from '../commit/row-locks.ts'
import { POSTGRES, type TestServer } from '../test-servers.ts'

const PROGRAM = fileURLToPath(new URL('listen-process.ts', import.meta.url))
const START_MS_MAX = 60_000

describe('a process that listens to PostgreSQL', () => {
  let server: TestServer
  let where: string
  let database: SqlDatabase
  const opened: SqlDatabase[] = []

  beforeAll(async () => {
    server = await POSTGRES.start()
  }, START_MS_MAX)
  afterAll(() => server.stop())

  beforeEach(async () => {
    where = await server.create()
    database = await open()
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()))
  })

  async function open(url = where): Promise<SqlDatabase> {
    const one = await openPostgres(url)
    opened.push(one)
    return one
  }

  const ring = (...processes: string[]): Promise<unknown> =>
    transact(database, (db) => database.dialect.run(db, database.dialect.ring(processes)))

  /** Counts what a process hears. */
  async function listen(process: string, one = database): Promise<() => number> {
    let rings = 0
    await one.listen(process, () => {
      rings += 1
    })
    return () => rings
  }

  async function listListeners(): Promise<number[]> {
    const { rows } = await sql<{ pid: number }>`
      select pid from pg_stat_activity
      where datname = current_database() and query in ('listen holdfast', 'select 1')
        and pid <> pg_backend_pid()`.execute(database.db)
    return rows.map(({ pid }) => pid)
  }

  it('hears what it is rung for, and not what others are', async () => {
    const [mine, others] = [await listen('me'), await listen('you')]
    await ring('you')
    await expect.poll(others).toBe(1)
    await ring('me', 'somebody', 'me')
    await expect.poll(mine).toBe(1)
    await ring(ALL_PROCESSES)
    await expect.poll(() => [mine(), others()]).toEqual([2, 2])
  })

  it('hears it when the transaction commits, and never if it does not', async () => {
    const [mine, others] = [await listen('me'), await listen('you')]
    const isRung = createGate()
    const isEnough = createGate()
    const ringing = transact(database, async (db) => {
      await database.dialect.run(db, database.dialect.ring(['me']))
      isRung.open()
      await isEnough.opened
      throw new Error('rolled back')
    })
    const ended = ringing.catch((error: unknown) => error)
    await isRung.opened
    await ring('you')
    await expect.poll(others).toBe(1)
    isEnough.open()
    expect(await ended).toEqual(new Error('rolled back'))
    await ring('you')
    await expect.poll(others).toBe(2)
    expect(mine()).toBe(0)
  })

  it('hears it among a thousand', async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `process-${index}`.padEnd(64, '.'))
    const heard = await Promise.all([0, 500, 999].map((index) => listen(names[index] as string)))
    await ring(...names)
    await expect.poll(() => heard.map((count) => count())).toEqual([1, 1, 1])
  })

  it('rings once when its connection was cut and is back, and hears what comes then', async () => {
    const heard = await listen('me')
    for (let cut = 1; cut <= 3; cut += 1) {
      const [pid] = await listListeners()
      await sql`select pg_terminate_backend(${pid})`.execute(database.db)
      await expect.poll(heard).toBe(2 * cut - 1)
      await ring('me')
      await expect.poll(heard).toBe(2 * cut)
    }
  })

  it('comes back by itself however long the server was out of reach', async () => {
    await throughProxy(async (proxy, near) => {
      const heard = await listen('me', near)
      proxy.set({ toServer: { kind: 'reset' } })
      proxy.resetConnections()
      await expect.poll(() => proxy.counters.connectionsReset).toBeGreaterThan(5)
      expect(heard()).toBe(0)
      proxy.set({})
      await expect.poll(heard).toBe(1)
    })
  })

  it('notices a connection that was cut without a word', async () => {
    await throughProxy(async (proxy, near) => {
      const heard = await listen('me', near)
      proxy.set({ toServer: { kind: 'black-hole' }, toClient: { kind: 'black-hole' } })
      await expect.poll(() => proxy.counters.toServer.bytesDropped).toBeGreaterThan(0)
      proxy.set({})
      await expect.poll(heard).toBe(1)
    })
  })

  it('is not kept alive by it', async () => {
    const child = fork(PROGRAM, [where], { execArgv: ['--import', 'tsx'] })
    expect(await once(child, 'message')).toEqual(['listening', undefined])
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it('leaves no connection behind when it closes', async () => {
    const other = await open()
    await listen('me', other)
    expect(await listListeners()).toHaveLength(1)
    await other.close()
    await expect.poll(listListeners).toEqual([])
  })

  it('has its commits on disk before they are answered, whatever the database says', async () => {
    const name = sql.ref(new URL(where).pathname.slice(1))
    await sql`alter database ${name} set synchronous_commit = off`.execute(database.db)
    expect(await readCommits(await open())).toBe('on')
  })

  it('has them there also where a pooler gives it another session for the next transaction', async () => {
    const one = await open()
    expect(await readCommits(one)).toBe('on')
    // The only connection so far, as another session of the server would be.
    await sql`set synchronous_commit = off`.execute(one.db)
    expect(await readCommits(one)).toBe('on')
  })

  it('leaves a server alone whose commits wait for its replicas as well', async () => {
    const name = sql.ref(new URL(where).pathname.slice(1))
    await sql`alter database ${name} set synchronous_commit = remote_apply`.execute(database.db)
    expect(await readCommits(await open())).toBe('remote_apply')
  })

  /** What a transaction of the engine's asks of its commit. */
  async function readCommits(one: SqlDatabase): Promise<string | undefined> {
    return new Transactor(one).write(async (db) => {
      const { rows } = await sql<{ commits: string }>`
        select current_setting('synchronous_commit') as commits`.execute(db)
      return rows[0]?.commits
    })
  }

  async function throughProxy(
    work: (proxy: FaultProxy, near: SqlDatabase) => Promise<void>,
  ): Promise<void> {
    const url = new URL(where)
    const proxy = await FaultProxy.listen({ target: { port: Number(url.port) } })
    url.port = String(proxy.port)
    try {
      await work(proxy, await open(url.href))
    } finally {
      await proxy.close()
    }
  }
})

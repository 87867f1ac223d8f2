import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { lockKeys } from '../../../src/engines/sql/snapshot/key-loader.ts'
import { migrate } from '../../../src/engines/sql/schema/migrate.ts'
import type { Connection, KeyName, SqlDatabase } from '../../../src/engines/sql/sql-dialect.ts'
import { createGate, holdOpen, readNowMs, transact, waitUntilBlocked } from './commit/row-locks.ts'
import { MYSQL, POSTGRES } from './test-servers.ts'
import { useServer } from './use-server.ts'

const A: KeyName = { space: 'lock', name: 'a' }
const B: KeyName = { space: 'lock', name: 'b' }

/** SQLite has no rows to lock and no connection to lose. */
describe.each([POSTGRES, MYSQL])('a server of $name', (kind) => {
  const isPostgres = kind === POSTGRES
  const server = useServer(kind)
  let database: SqlDatabase
  let other: SqlDatabase

  beforeEach(async () => {
    const where = await server.create()
    database = server.closing(await kind.open(where))
    other = server.closing(await kind.open(where))
    await migrate(database)
    const { db, dialect } = database
    await dialect.run(db, dialect.insertKeys([A, B]))
  })
  const classify = (error: unknown): string => database.dialect.classify(error)

  async function readSession(db: Connection): Promise<number> {
    const id = sql.raw<number>(isPostgres ? 'pg_backend_pid()' : 'connection_id()')
    const { rows } = await sql<{ id: number }>`select ${id} as id`.execute(db)
    return rows[0]?.id ?? 0
  }

  const stopStatement = (session: number): Promise<unknown> =>
    sql
      .raw(isPostgres ? `select pg_cancel_backend(${session})` : `kill query ${session}`)
      .execute(other.db)

  const cut = (session: number): Promise<unknown> =>
    sql
      .raw(isPostgres ? `select pg_terminate_backend(${session})` : `kill ${session}`)
      .execute(other.db)

  it('tells a transaction that waited for a row the time after the wait', async () => {
    const isHeld = createGate()
    const isWaitedFor = createGate()
    let heldAtMs = 0
    const first = transact(database, async (db) => {
      await lock(db, A)
      isHeld.open()
      await isWaitedFor.opened
      heldAtMs = await readNowMs(database, db)
    })
    await isHeld.opened
    const second = transact(other, async (db) => {
      const beganAtMs = await readNowMs(other, db)
      await lock(db, A)
      return { beganAtMs, nowMs: await readNowMs(other, db) }
    })
    await waitUntilBlocked(database, 1)
    isWaitedFor.open()
    await first
    const { beganAtMs, nowMs } = await second
    expect(heldAtMs).toBeGreaterThan(beganAtMs)
    expect(nowMs).toBeGreaterThanOrEqual(heldAtMs)
  })

  it('lets others have one key while somebody has another', async () => {
    const held = await holdOpen(database, (db) => lock(db, A))
    // So many that reading the whole table would seem cheaper, which must not be how they are found.
    const missing = Array.from(
      { length: 30 },
      (_, index): KeyName => ({ space: 'operation', name: `c${10 + index}` }),
    )
    const { dialect } = other
    const [found, made] = await transact(other, async (db) => {
      const [locked] = await dialect.run(db, [lockKeys(dialect, [B, ...missing])])
      return [locked, (await dialect.run(db, dialect.insertKeys(missing))).at(-1)]
    })
    expect(found).toMatchObject([B])
    expect(made).toMatchObject(missing)
    await held.close()
  })

  it.each([
    { what: 'that is there', name: A },
    { what: 'that is new', name: { space: 'lock', name: 'new' } as const },
  ])('has a key $what locked by whoever made sure of it', async ({ name }) => {
    const { dialect } = database
    const held = await holdOpen(database, (db) => dialect.run(db, dialect.insertKeys([name])))
    expect(await listFree(other)).not.toContain(name.name)
    await held.close()
    expect(await listFree(other)).toContain(name.name)
  })

  it('calls a deadlock a conflict', async () => {
    const haveBoth = [createGate(), createGate()] as const
    const cross = async (one: KeyName, next: KeyName, at: 0 | 1): Promise<void> =>
      transact(database, async (db) => {
        await lock(db, one)
        haveBoth[at].open()
        await Promise.all(haveBoth.map(({ opened }) => opened))
        await lock(db, next)
      })
    const ends = await Promise.allSettled([cross(A, B, 0), cross(B, A, 1)])
    const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
    expect(failures.map(classify)).toEqual(['conflict'])
  })

  it('calls a lock that could not be had in time a conflict', async () => {
    const held = await holdOpen(database, (db) => lock(db, A))
    const limit = isPostgres
      ? `set local lock_timeout = '10ms'`
      : 'set session innodb_lock_wait_timeout = 1'
    const late = transact(other, async (db) => {
      await sql.raw(limit).execute(db)
      await lock(db, A)
    })
    expect(classify(await failureOf(late))).toBe('conflict')
    await held.close()
  })

  it('calls a statement that an operator stopped a conflict', async () => {
    const held = await holdOpen(database, (db) => lock(db, A))
    let session = 0
    const stopped = transact(database, async (db) => {
      session = await readSession(db)
      await lock(db, A)
    })
    const failure = failureOf(stopped)
    await waitUntilBlocked(other, 1)
    await stopStatement(session)
    expect(classify(await failure)).toBe('conflict')
    await held.close()
  })

  it('calls a connection that was cut between statements lost, and makes another', async () => {
    const lost = transact(database, async (db) => {
      const session = await readSession(db)
      await cut(session)
      await waitUntilGone(session)
      await lock(db, A)
    })
    expect(classify(await failureOf(lost))).toBe('connection')
    await transact(database, (db) => lock(db, A))
  })

  it('calls a connection that was cut during a statement lost, and makes another', async () => {
    const held = await holdOpen(other, (db) => lock(db, A))
    let session = 0
    const lost = transact(database, async (db) => {
      session = await readSession(db)
      await lock(db, A)
    })
    const failure = failureOf(lost)
    await waitUntilBlocked(other, 1)
    await cut(session)
    expect(classify(await failure)).toBe('connection')
    await held.close()
    await transact(database, (db) => lock(db, A))
  })

  it('makes another connection where one was cut that nobody used', async () => {
    const session = await readSession(database.db)
    await cut(session)
    await waitUntilGone(session)
    await expect.poll(() => readSession(database.db).catch(() => session)).not.toBe(session)
  })

  it('calls what is wrong with a statement neither', async () => {
    const failure = await failureOf(sql`select nothing from nowhere`.execute(database.db))
    expect(classify(failure)).toBe('other')
  })

  async function waitUntilGone(session: number): Promise<void> {
    const alive = isPostgres
      ? sql`select pid from pg_stat_activity where pid = ${session}`
      : sql`select id from information_schema.processlist where id = ${session}`
    await expect.poll(async () => (await alive.execute(other.db)).rows).toEqual([])
  }
})

async function lock(db: Connection, { space, name }: KeyName): Promise<void> {
  await sql`select id from holdfast_keys where space = ${space} and name = ${name}
    for update`.execute(db)
}

async function listFree({ db, dialect }: SqlDatabase): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from holdfast_keys ${sql.raw(dialect.skipLocked)}`.execute(db)
  return rows.map(({ name }) => name)
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

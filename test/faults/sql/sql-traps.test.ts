import { setTimeout as rest } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { openSqlEngine } from '../../../src/engines/sql/open-sql-engine.ts'
import type { Connection, SqlDatabase } from '../../../src/engines/sql/sql-dialect.ts'
import { ENDED_REMEMBERED_MS } from '../../../src/law/model/limits.ts'
import { EngineProcess } from '../../engine-process/engine-process.ts'
import { LeapingClock } from '../../engine-process/leaping-clock.ts'
import { type DatabaseAddress, openDatabase } from '../../engine-process/open-database.ts'
import {
  createGate,
  holdOpen,
  transact,
  waitUntilBlocked,
} from '../../engines/sql/commit/row-locks.ts'
import { DATABASES, HarmedServer, openEngine } from './sql-databases.ts'

const LONG_MS = 60_000

let server: HarmedServer
let database: DatabaseAddress
let engine: LockEngine
let administrator: SqlDatabase

/** Locks the row of a key, as a transaction of another process does. */
function lockRow(db: Connection, name: string): Promise<unknown> {
  return sql`select id from holdfast_keys where space = 'lock' and name = ${name}
    ${sql.raw(administrator.dialect.forUpdate)}`.execute(db)
}

function toAcquire(owner: string, key: string, ttlMs = LONG_MS) {
  return { kind: 'acquire', key, owner, requestId: '1', ttlMs, mode: 'read' } as const
}

async function readCount(query: ReturnType<typeof sql<{ count: number }>>): Promise<number> {
  const { rows } = await query.execute(administrator.db)
  return Number(rows[0]?.count)
}

describe.each(DATABASES)('on a database of $name', (kind) => {
  const { name } = kind

  beforeAll(async () => {
    server = await HarmedServer.start(kind)
  })

  afterAll(() => server.stop())

  beforeEach(async () => {
    database = await server.create()
    engine = await openEngine(database)
    administrator = await openDatabase(database)
  })

  afterEach(async () => {
    await engine.close()
    await administrator.close()
  })

  it('a request that waited for somebody else has a whole lease, and sees whose lease passed meanwhile', async () => {
    await engine.apply({ ...toAcquire('before', 'k', 500), mode: 'write' })
    const blocker = await holdOpen(administrator, (db) => lockRow(db, 'k'))
    const asked = engine.apply({ ...toAcquire('after', 'k'), mode: 'write' })
    if (name !== 'sqlite') await waitUntilBlocked(administrator, 1)
    await rest(1_200)
    const blockedUntilMs = performance.now()
    await blocker.close()
    const outcome = await asked
    expect(outcome).toMatchObject({ kind: 'granted', leaseMs: LONG_MS })
    const { holders } = await engine.read({ kind: 'inspect', key: 'k' })
    expect(holders.map(({ owner }) => owner)).toEqual(['after'])
    const passedMs = performance.now() - blockedUntilMs
    // Less than the wait is what two clocks may differ by.
    expect(holders[0]?.leaseMs).toBeGreaterThan(LONG_MS - passedMs - 100)
  })

  it('of a hundred first requests from two processes one is granted, and none fails', async () => {
    const other = await EngineProcess.start()
    const engines = [engine, await other.open({ database })]
    for (const key of ['one', 'two', 'three']) {
      const outcomes = await Promise.all(
        Array.from({ length: 100 }, async (_, index) =>
          (engines[index % 2] as LockEngine).apply({
            ...toAcquire(`owner-${index}`, key),
            mode: 'write',
          }),
        ),
      )
      expect(outcomes.filter(({ kind }) => kind === 'granted')).toHaveLength(1)
    }
    await other.stop()
  })

  it('places in a queue are in the order of the answers, whichever process they came from', async () => {
    const other = await EngineProcess.start()
    const engines = [engine, await other.open({ database })]
    await engine.apply({ ...toAcquire('holder', 'k'), mode: 'write' })
    const asked: { owner: string; call: number; ret: number }[] = []
    const queue = async (owner: string, at: LockEngine): Promise<void> => {
      const call = performance.now()
      const request = { ...toAcquire(owner, 'k'), waitMs: LONG_MS, detach: true }
      expect((await at.apply(request)).kind).toBe('queued')
      asked.push({ owner, call, ret: performance.now() })
    }
    await Promise.all(
      engines.flatMap((at, process) =>
        Array.from({ length: 5 }, async (_, client) => {
          for (let turn = 0; turn < 8; turn += 1) await queue(`${process}-${client}-${turn}`, at)
        }),
      ),
    )
    const shown = await engine.read({ kind: 'inspect', key: 'k', queueLimit: 100 })
    const places = new Map(shown.queue.map(({ owner }, index) => [owner, index]))
    expect(places.size).toBe(asked.length)
    const passed = asked.flatMap((one) =>
      asked
        .filter(({ call }) => one.ret < call)
        .filter(({ owner }) => (places.get(owner) ?? 0) < (places.get(one.owner) ?? 0))
        .map(({ owner }) => `${owner} came after ${one.owner} was answered, and is ahead of it`),
    )
    expect(passed).toEqual([])
    await other.stop()
  })

  it.skipIf(name === 'sqlite')(
    'a deadlock is no answer: the request is tried again and applied once',
    async () => {
      for (const key of ['a', 'b']) await engine.apply(toAcquire('first', key))
      const deadlocks =
        name === 'postgres'
          ? sql<{ count: number }>`select deadlocks as count from pg_stat_database
            where datname = current_database()`
          : sql<{ count: number }>`select "count" as count
            from information_schema.innodb_metrics where name = 'lock_deadlocks'`
      const before = await readCount(deadlocks)
      const ready = createGate()
      const go = createGate()
      const crossing = transact(administrator, async (db) => {
        if (name === 'postgres') await sql`set local deadlock_timeout = '60s'`.execute(db)
        else await makeHeavy(db)
        await lockRow(db, 'b')
        ready.open()
        await go.opened
        await lockRow(db, 'a')
      })
      await ready.opened
      const both = Promise.all(
        ['a', 'b'].map(async (key) => engine.apply(toAcquire('second', key))),
      )
      await waitUntilBlocked(administrator, 1)
      go.open()
      await crossing
      expect(await both).toMatchObject([
        { kind: 'granted', reads: 1 },
        { kind: 'granted', reads: 1 },
      ])
      const counted = async (): Promise<number> => readCount(deadlocks)
      await expect.poll(counted).toBeGreaterThan(before)
    },
  )

  it('tokens go on growing when a key was forgotten and the database was killed', async () => {
    // On a clock of its own, beside which one on the real clock would see everything expired.
    await engine.close()
    const clock = new LeapingClock(1_000_000)
    const open = (): Promise<LockEngine> =>
      openSqlEngine(() => openDatabase(database), { clock, isClockOurs: true })
    let mine = await open()
    let highest = 0
    for (let round = 0; round < 3; round += 1) {
      const granted = await mine.apply({ ...toAcquire('a', 'k'), requestId: `${round}` })
      const token = granted.kind === 'granted' ? granted.token : 0
      expect(token).toBeGreaterThan(highest)
      highest = token
      await mine.apply({ kind: 'release', key: 'k', owner: 'a' })
      await clock.advance(2 * ENDED_REMEMBERED_MS)
      await mine.apply({ kind: 'sweep' })
      const keys = sql<{ count: number }>`select count(*) as count from holdfast_keys`
      expect(await readCount(keys), 'nothing is left of the key').toBe(0)
      await mine.close()
      if (server.isProcess) {
        await server.service.kill()
        await server.service.restart()
      }
      mine = await open()
    }
    await mine.close()
  })

  it.runIf(name === 'sqlite')(
    'a file has its commits on disk before they are answered',
    async () => {
      const journal = sql<{ journal_mode: string }>`pragma journal_mode`
      const sync = sql<{ synchronous: number }>`pragma synchronous`
      expect((await journal.execute(administrator.db)).rows).toEqual([{ journal_mode: 'wal' }])
      expect((await sync.execute(administrator.db)).rows).toEqual([{ synchronous: 2 }])
    },
  )

  it('who has the database for itself for a while is waited for by everybody', async () => {
    await engine.apply(toAcquire('first', 'k'))
    await engine.apply({ kind: 'open-session', session: 's', graceMs: LONG_MS })
    const blocker = await holdOpen(administrator, (db) => lockRow(db, 'k'))
    const calls = Promise.all([
      engine.apply(toAcquire('second', 'k')),
      engine.apply(toAcquire('second', 'other')),
      engine.apply({ kind: 'touch-session', session: 's' }),
      engine.apply({ kind: 'close-session', session: 's' }),
      engine.read({ kind: 'inspect', key: 'k' }),
      engine.watch({}, () => {}),
    ])
    await rest(500)
    await blocker.close()
    const [second, other] = await calls
    expect([second.kind, other.kind]).toEqual(['granted', 'granted'])
  })
})

/** The one with fewer changes is the one that the database gives up. */
async function makeHeavy(db: Connection): Promise<void> {
  const at_ms = 0
  const rows = Array.from({ length: 200 }, () => ({ at_ms, body: '{}', process: 'nobody' }))
  await db.insertInto('holdfast_letters').values(rows).execute()
}

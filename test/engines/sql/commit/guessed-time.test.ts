import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlDatabase } from '../../../../src/engines/sql/sql-dialect.ts'
import { createStillClock, OptimisticProcess } from './guessing-process.ts'
import { holdOpen, waitUntilBlocked } from './row-locks.ts'
import { MYSQL, POSTGRES, type ServerKind } from '../test-servers.ts'
import { useServer } from '../use-server.ts'

/** Far longer than a test takes, so that nothing is over unless somebody sets the clock. */
const TTL_MS = 600_000
const FAR_MS = 2 * TTL_MS

describe.each([POSTGRES, MYSQL])('who guesses the time, on $name,', (kind: ServerKind) => {
  const server = useServer(kind)
  let database: SqlDatabase
  let process: OptimisticProcess

  beforeEach(async () => {
    const where = await server.create()
    database = server.closing(await kind.open(where))
    await sql`create table test_clock (offset_ms bigint not null)`.execute(database.db)
    await sql`insert into test_clock values (0)`.execute(database.db)
    const clock = createStillClock(() => 0)
    const open = async (): Promise<SqlDatabase> => withTestClock(await kind.open(where))
    process = server.closing(await OptimisticProcess.open(open, { clock }))
  })

  /** From now on the clock of the database shows this much more than it would. */
  async function setClock(offsetMs: number): Promise<void> {
    await sql`update test_clock set offset_ms = ${offsetMs}`.execute(database.db)
  }

  /** It has heard of the clock so often and so soon that it need not ask. */
  async function learnTime(): Promise<void> {
    const ask = async (): Promise<number> =>
      (await process.during(() => process.look('other'))).trips
    await process.acquire('a', 'other')
    await expect.poll(ask, { interval: 1 }).toBe(1)
  }

  const acquire = (owner: string): ReturnType<OptimisticProcess['acquire']> =>
    process.acquire(owner, 'k', { ttlMs: TTL_MS })

  it('ends what is over by the clock of the database, which was set forward', async () => {
    await acquire('a')
    await learnTime()
    await setClock(FAR_MS)
    const asked = await process.during(() => acquire('b'))
    expect(asked).toMatchObject({ result: { kind: 'granted', leaseMs: TTL_MS }, refuted: 1 })
    const { holders } = await process.engine.read({ kind: 'inspect', key: 'k' })
    expect(holders).toMatchObject([{ owner: 'b' }])
  })

  it('respects what is not over by the clock of the database, which was set back', async () => {
    await acquire('a')
    await setClock(FAR_MS)
    await learnTime()
    await setClock(0)
    const asked = await process.during(() => acquire('b'))
    expect(asked).toMatchObject({ result: { kind: 'refused', code: 'held' }, refuted: 1 })
    const { holders } = await process.engine.read({ kind: 'inspect', key: 'k' })
    expect(holders).toMatchObject([{ owner: 'a' }])
  })

  it.each([
    ['forward', 10_000],
    ['back', -5_000],
  ])('looks again, and guesses by the new time, after it was set %s', async (_, byMs) => {
    await acquire('a')
    await learnTime()
    await setClock(byMs)
    const wrong = await process.during(() => process.look('k'))
    expect(wrong.refuted).toBe(1)
    await learnTime()
    await process.look('k')
    expect(await process.during(() => process.look('k'))).toMatchObject({ trips: 1, refuted: 0 })
  })

  it('reads the clock when it has the key, however long it waited for that', async () => {
    await acquire('a')
    await learnTime()
    const held = server.closing(
      await holdOpen(database, (db) =>
        sql`select id from holdfast_keys where name = 'k' for update`.execute(db),
      ),
    )
    const asking = process.during(() => acquire('b'))
    await waitUntilBlocked(database, 1)
    await setClock(FAR_MS)
    await held.close()
    expect(await asking).toMatchObject({ result: { kind: 'granted' }, refuted: 1 })
  })

  it('reads the clock when it has the sessions too, however long it waited for them', async () => {
    await process.engine.apply({ kind: 'open-session', session: 's', graceMs: 60_000 })
    await process.acquire('a', 'k', { session: 's', ttlMs: TTL_MS })
    await process.release('a', 'k')
    await learnTime()
    const known = await process.during(() => process.acquire('a', 'k', { session: 's' }))
    expect(known).toMatchObject({ trips: 1, refuted: 0 })
    const held = server.closing(
      await holdOpen(database, (db) =>
        sql`select id from holdfast_sessions where id = 's' for update`.execute(db),
      ),
    )
    const asking = process.during(() => process.acquire('a', 'k', { session: 's' }))
    await waitUntilBlocked(database, 1)
    await setClock(FAR_MS)
    await held.close()
    expect(await asking).toMatchObject({ result: { kind: 'refused' }, refuted: 1 })
  })
})

function withTestClock(database: SqlDatabase): SqlDatabase {
  const { dialect } = database
  const nowMs = `(${dialect.nowMs} + (select offset_ms from test_clock))`
  return { ...database, dialect: { ...dialect, nowMs } }
}

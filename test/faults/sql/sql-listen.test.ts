import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import type { SqlDatabase } from '../../../src/engines/sql/sql-dialect.ts'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'
import { EngineProcess } from '../../engine-process/engine-process.ts'
import { openDatabase } from '../../engine-process/open-database.ts'
import { HarmedServer, IS_LONG, openEngine, POSTGRES, SEED } from './sql-databases.ts'
import { SqlScene } from './sql-scene.ts'

const ROUNDS = IS_LONG ? 300 : 20
const ROUNDS_PER_GENERATION = 20
const CLIENTS = 12
/** Behind every push an engine looks for itself, every two seconds; the rest is for a busy machine. */
const patience = new Patience(60_000)

let server: HarmedServer
let administrator: SqlDatabase
let engine: LockEngine
let other: EngineProcess
let there: LockEngine

/**
 * Ends the connections that listen, and nothing else: the latest that they said is that they listen, or,
 * after a while of silence, a question whether anybody is there. Returns how many that were.
 */
async function cutListeners(): Promise<number> {
  const { rows } = await sql<{ ended: boolean }>`
    select pg_terminate_backend(pid) as ended from pg_stat_activity
    where datname = current_database() and query in ('listen holdfast', 'select 1')
      and pid <> pg_backend_pid()`.execute(administrator.db)
  return rows.filter(({ ended }) => ended).length
}

describe('a process whose letters from postgres are cut off', () => {
  beforeAll(async () => {
    server = await HarmedServer.start(POSTGRES)
  })

  afterAll(() => server.stop())

  beforeEach(async () => {
    const database = await server.create()
    administrator = await openDatabase(database)
    engine = await openEngine(database)
    other = await EngineProcess.start()
    there = await other.open({ database })
  })

  afterEach(async () => {
    await engine.close()
    await other.stop()
    await administrator.close()
  })

  it('is woken all the same, whether it is cut before the release or after', async () => {
    const ask = { kind: 'acquire', key: 'k', ttlMs: 600_000 } as const
    for (let round = 0; round < 6; round += 1) {
      const requestId = String(round)
      await there.apply({ ...ask, owner: 'there', requestId })
      const waiting = engine.apply({ ...ask, owner: 'here', requestId, waitMs: 600_000 })
      const wait = Promise.resolve(waiting)
      const isQueued = async (): Promise<boolean> =>
        (await there.read({ kind: 'inspect', key: 'k' })).queueLength === 1
      await patience.until(isQueued, 'it waits')
      await patience.until(async () => (await cutListeners()) > 0, 'a listener is there and cut')
      if (round % 2 === 0) await cutListeners()
      await there.apply({ kind: 'release', key: 'k', owner: 'there' })
      if (round % 3 === 0) await cutListeners()
      expect((await patience.answer(wait, 'it is woken')).kind).toBe('granted')
      await engine.apply({ kind: 'release', key: 'k', owner: 'here' })
    }
  })

  it(`goes on under load although that happens ${ROUNDS} times`, async () => {
    const scene = new SqlScene({ seed: SEED, engines: [engine, there], clients: CLIENTS })
    scene.start()
    await scene.untilAnswered(100)
    let cut = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      if (round % ROUNDS_PER_GENERATION === 0) scene.changeKeys()
      await patience.until(async () => (cut += await cutListeners()) > round, 'it is cut again')
      scene.mark('cut')
      await scene.untilAnswered(20)
    }
    await scene.untilAnswered(100)
    expect(await scene.end(), `seed ${SEED}`).toBe(CLIENTS)
    expect([...scene.failures.keys()], 'nobody notices').toEqual([])
    const report = scene.check()
    expect(report.violations, `seed ${SEED}`).toEqual([])
    expect(report.verdict, `seed ${SEED}`).toBe('pass')
    expect(report.counts.faults).toBe(ROUNDS)
  })
})

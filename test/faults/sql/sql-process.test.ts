import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'
import { EngineProcess } from '../../engine-process/engine-process.ts'
import type { DatabaseAddress } from '../../engine-process/open-database.ts'
import { DATABASES, HarmedServer, IS_LONG, openEngine, SEED } from './sql-databases.ts'
import { SqlScene } from './sql-scene.ts'

const KILLS = IS_LONG ? 12 : 1
/** So long that a process on a busy machine is not taken for one that is gone. */
const SETTINGS = { openPatienceMs: 8_000, claimWindowMs: 6_000 }
const TTL_MS = 3_000
const LONG_MS = 60_000
const CLIENTS = 12

const patience = new Patience(60_000)
let server: HarmedServer
let database: DatabaseAddress
let engine: LockEngine
let other: EngineProcess

describe.each(DATABASES)('a process on a database of $name', (kind) => {
  beforeAll(async () => {
    server = await HarmedServer.start(kind)
  })

  afterAll(() => server.stop())

  beforeEach(async () => {
    database = await server.create()
    engine = await openEngine(database, { settings: SETTINGS })
    other = await EngineProcess.start()
  })

  afterEach(async () => {
    await other.stop()
    await engine.close()
  })

  const openOther = (): Promise<LockEngine> => other.open({ database, settings: SETTINGS })

  it('that is killed leaves its holds to their leases and its waiters to their patience', async () => {
    const killed = await openOther()
    const toAcquire = (owner: string, key: string, fields: { ttlMs: number; waitMs?: number }) =>
      ({ kind: 'acquire', key, owner, requestId: '1', ...fields }) as const
    await engine.apply(toAcquire('here', 'queue', { ttlMs: LONG_MS }))
    const askedAtMs = performance.now()
    const held = await killed.apply(toAcquire('there', 'held', { ttlMs: TTL_MS }))
    expect(held.kind).toBe('granted')
    const lost = Promise.resolve(
      killed.apply(toAcquire('there', 'queue', { ttlMs: LONG_MS, waitMs: LONG_MS })),
    )
    lost.catch(() => {})
    const queueLength = async (): Promise<number> =>
      (await engine.read({ kind: 'inspect', key: 'queue' })).queueLength
    await patience.until(async () => (await queueLength()) === 1, 'the other process waits')
    const next = Promise.resolve(
      engine.apply(toAcquire('next', 'queue', { ttlMs: LONG_MS, waitMs: LONG_MS })),
    )
    const heir = Promise.resolve(
      engine.apply(toAcquire('heir', 'held', { ttlMs: LONG_MS, waitMs: LONG_MS })),
    )
    await patience.until(async () => (await queueLength()) === 2, 'both wait')
    await other.kill()
    await expect(lost).rejects.toThrow('the process has ended')
    await engine.apply({ kind: 'release', key: 'queue', owner: 'here' })
    const outcome = await patience.answer(heir, 'the lease of a dead process ends')
    expect(outcome.kind).toBe('granted')
    expect(performance.now() - askedAtMs).toBeGreaterThan(TTL_MS - 100)
    expect((await patience.answer(next, 'a dead waiter leaves')).kind).toBe('granted')
    expect(await engine.read({ kind: 'stats' })).toMatchObject({ holds: 2, waiters: 0 })
  })

  it(`that is killed ${KILLS} times under load takes nothing of the others with it`, async () => {
    let faults = 0
    for (let kill = 0; kill < KILLS; kill += 1) {
      if (kill > 0) other = await EngineProcess.start()
      const engines = [engine, await openOther()]
      const seed = `${SEED}-${kill}`
      const scene = new SqlScene({ seed, engines, clients: CLIENTS, ttlMs: TTL_MS })
      scene.changeKeys()
      scene.start()
      await scene.untilAnswered(scene.random.int(100, 300))
      const isThere = (index: number): boolean => index % 2 === 1
      await patience.until(() => scene.countAsking(isThere) >= 3, 'calls are open there')
      await other.kill()
      for (let client = 1; client < CLIENTS; client += 2)
        scene.mark('disconnect', { proc: `client-${client}` })
      await scene.untilAnswered(100)
      expect(await scene.end((index) => !isThere(index)), `seed ${seed}`).toBe(CLIENTS / 2)
      expect([...scene.failures.keys()], `seed ${seed}`).toEqual([])
      const report = scene.check()
      expect(report.violations, `seed ${seed}`).toEqual([])
      expect(report.verdict, `seed ${seed}`).toBe('pass')
      expect(report.counts.info, 'calls were open when it was killed').toBeGreaterThan(0)
      faults += report.counts.faults
    }
    expect(faults).toBe((KILLS * CLIENTS) / 2)
  })
})

import { setTimeout as rest } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import type { Granted } from '../../../src/law/model/outcomes.ts'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'
import { EngineProcess } from '../../engine-process/engine-process.ts'
import { canMoveClocks, MovedClock } from '../moved-clock.ts'
import { DATABASES, HarmedServer, IS_LONG, SEED } from './sql-databases.ts'
import { CLOCK_MOVES, SqlScene } from './sql-scene.ts'

const MOVES = IS_LONG ? 60 : 6
const CLIENTS = 8
const HOUR_MS = 3_600_000
const TTL_MS = 60_000

const patience = new Patience(60_000)
let clock: MovedClock
let server: HarmedServer
let processes: EngineProcess[]
let engines: LockEngine[]

function toAcquire(owner: string, waitMs = 0) {
  return { kind: 'acquire', key: 'k', owner, requestId: '1', ttlMs: TTL_MS, waitMs } as const
}

async function grant(engine: LockEngine, owner: string): Promise<Granted> {
  const outcome = await engine.apply(toAcquire(owner))
  expect(outcome.kind).toBe('granted')
  return outcome as Granted
}

describe.skipIf(!canMoveClocks()).each(DATABASES)('the clock of a database of $name', (kind) => {
  beforeAll(async () => {
    clock = new MovedClock()
    const { environment: serverEnvironment } = clock
    server = await HarmedServer.start(kind, { serverEnvironment })
    // A file has the clock of whoever opens it.
    const ofClients = server.isProcess ? {} : clock.environment
    processes = [await EngineProcess.start(ofClients), await EngineProcess.start(ofClients)]
  })

  afterAll(async () => {
    for (const process of processes) await process.stop()
    await server.stop()
    clock.remove()
  })

  beforeEach(async () => {
    clock.moveTo(0)
    const database = await server.create()
    engines = await Promise.all(processes.map((process) => process.open({ database })))
  })

  afterEach(async () => {
    for (const engine of engines) await engine.close()
  })

  it('may go forward: leases end early, and who comes next is told from who was there', async () => {
    const [one, two] = engines as [LockEngine, LockEngine]
    const first = await grant(one, 'a')
    expect((await two.apply(toAcquire('b'))).kind).toBe('refused')
    clock.moveTo(2 * TTL_MS)
    const second = await grant(two, 'b')
    expect(second.token).toBeGreaterThan(first.token)
    expect(second.leaseMs).toBe(TTL_MS)
    const { token } = first
    const renewed = await one.apply({ kind: 'renew', key: 'k', owner: 'a', ttlMs: TTL_MS, token })
    expect(renewed).toMatchObject({ kind: 'refused', code: 'not_holder' })
    expect(await one.apply({ kind: 'release', key: 'k', owner: 'a', token })).toMatchObject({
      kind: 'refused',
      code: 'not_holder',
    })
    const { holders } = await one.read({ kind: 'inspect', key: 'k' })
    expect(holders.map(({ owner }) => owner)).toEqual(['b'])
  })

  it('may go back: leases last longer, and whoever waits is woken all the same', async () => {
    const [one, two] = engines as [LockEngine, LockEngine]
    const first = await grant(one, 'a')
    clock.moveTo(-HOUR_MS)
    const seen = await two.read({ kind: 'inspect', key: 'k' })
    expect(seen.holders[0]?.leaseMs).toBeGreaterThan(HOUR_MS)
    expect((await two.apply(toAcquire('b'))).kind).toBe('refused')
    const wait = Promise.resolve(two.apply(toAcquire('c', TTL_MS)))
    const isQueued = async (): Promise<boolean> =>
      (await one.read({ kind: 'inspect', key: 'k' })).queueLength === 1
    await patience.until(isQueued, 'somebody waits')
    await one.apply({ kind: 'release', key: 'k', owner: 'a' })
    const third = await patience.answer(wait, 'it is woken')
    expect(third).toMatchObject({ kind: 'granted' })
    expect((third as Granted).token).toBeGreaterThan(first.token)
  })

  it(`may move ${MOVES} times under load: nothing but leases ends early, and everybody is served`, async () => {
    const scene = new SqlScene({ seed: SEED, engines, clients: CLIENTS })
    scene.start()
    for (let move = 0; move < MOVES; move += 1) {
      await scene.untilAnswered(30)
      scene.mark(CLOCK_MOVES)
      clock.moveTo(scene.random.int(-HOUR_MS, HOUR_MS))
      await rest(scene.random.int(0, 100))
    }
    scene.mark(CLOCK_MOVES)
    clock.moveTo(HOUR_MS)
    await scene.untilAnswered(100)
    expect(await scene.end(), `seed ${SEED}`).toBe(CLIENTS)
    expect([...scene.failures.keys()], `seed ${SEED}`).toEqual([])
    // That a lease ended early is what a clock that goes forward does; everything else holds.
    const { violations, verdict, counts } = scene.check()
    expect(violations, `seed ${SEED}`).toEqual([])
    expect(verdict, `seed ${SEED}`).toBe('pass')
    expect(counts.faults).toBe(MOVES + 1)
  })
})

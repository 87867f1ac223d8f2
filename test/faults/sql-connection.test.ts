import { setTimeout as rest } from 'node:timers/promises'
import type { KyselyPlugin } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../src/engine/engine.ts'
import { openSqlEngine } from '../../src/engines/sql/open-sql-engine.ts'
import { FaultProxy } from '../../src/testing/fault-proxy.ts'
import { EngineProcess } from '../engine-process/engine-process.ts'
import { type DatabaseAddress, openDatabase } from '../engine-process/open-database.ts'
import {
  HarmedServer,
  IS_LONG,
  openEngine,
  SEED,
  SQL_SERVERS,
  throughPort,
} from './sql-databases.ts'
import { SqlScene } from './sql-scene.ts'

const ROUNDS = IS_LONG ? 200 : 10
const ROUNDS_PER_GENERATION = 5
const CLIENTS = 12

let server: HarmedServer
let proxy: FaultProxy
let direct: DatabaseAddress
let throughProxy: DatabaseAddress
const engines: LockEngine[] = []
let other: EngineProcess | undefined

/** Calls back when a commit is about to be sent. */
function onCommit(callback: () => void): KyselyPlugin {
  return {
    transformQuery({ node }) {
      if (node.kind === 'RawNode' && node.sqlFragments[0] === 'commit') callback()
      return node
    },
    transformResult: async ({ result }) => result,
  }
}

describe.each(SQL_SERVERS)('the connections to a database of $name', (kind) => {
  beforeAll(async () => {
    server = await HarmedServer.start(kind)
  })

  afterAll(() => server.stop())

  beforeEach(async () => {
    direct = await server.create()
    proxy = await FaultProxy.listen({ target: { port: server.service.port } })
    throughProxy = throughPort(direct, proxy.port)
  })

  afterEach(async () => {
    proxy.set({})
    for (const engine of engines.splice(0)) await engine.close()
    await other?.stop()
    other = undefined
    await proxy.close()
  })

  it('may lose the answer to a commit: the same request again is applied once', async () => {
    let swallows = 0
    const engine = await openSqlEngine(async () => {
      const database = await openDatabase(throughProxy)
      const swallow = (): void => {
        if (swallows === 0) return
        swallows -= 1
        proxy.set({ toClient: { kind: 'swallow' } })
      }
      return { ...database, db: database.db.withPlugin(onCommit(swallow)) }
    })
    engines.push(engine)
    const lose = async (command: Parameters<LockEngine['apply']>[0]): Promise<void> => {
      swallows = 1
      await expect(engine.apply(command)).rejects.toMatchObject({
        code: 'LOCK_ENGINE_UNAVAILABLE',
        applied: 'maybe',
      })
    }
    const asked = { key: 'k', owner: 'a', mode: 'write' } as const
    const acquire = { kind: 'acquire', requestId: '1', ttlMs: 60_000, ...asked } as const
    const release = { kind: 'release', requestId: 'r', ...asked } as const
    for (let round = 1; round <= 5; round += 1) {
      const again = { ...acquire, requestId: String(round) }
      await lose(again)
      expect(await engine.apply(again)).toMatchObject({ kind: 'granted', writes: round })
    }
    await lose(release)
    expect(await engine.apply(release)).toEqual({ kind: 'released', reads: 0, writes: 4 })
    const { holders } = await engine.read({ kind: 'inspect', key: 'k' })
    expect(holders[0]?.writes).toBe(4)
    expect(proxy.counters.answersSwallowed).toBe(6)
  })

  it(`may be cut, delayed and reset ${ROUNDS} times under load`, async () => {
    other = await EngineProcess.start()
    const engine = await openEngine(throughProxy)
    engines.push(engine)
    const scene = new SqlScene({
      seed: SEED,
      engines: [engine, await other.open({ database: direct })],
      clients: CLIENTS,
    })
    scene.start()
    await scene.untilAnswered(100)
    let during = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      if (round % ROUNDS_PER_GENERATION === 0) scene.changeKeys()
      const before = scene.answered
      scene.mark(await harm(scene, round))
      during += scene.answered - before
      proxy.set({})
      await scene.untilAnswered(20)
    }
    await scene.untilAnswered(100)
    expect(await scene.end(), `seed ${SEED}`).toBe(CLIENTS)
    const { counters } = proxy
    expect(counters.connectionsCut, 'cut').toBeGreaterThan(0)
    expect(counters.connectionsReset, 'reset').toBeGreaterThan(0)
    expect(counters.answersSwallowed, 'swallowed').toBeGreaterThan(0)
    expect(counters.toServer.piecesDelayed, 'delayed').toBeGreaterThan(0)
    expect(during, 'the other process goes on meanwhile').toBeGreaterThan(0)
    const failed = [...scene.failures.keys()]
    expect(failed.filter((what) => !what.includes('LOCK_ENGINE_UNAVAILABLE'))).toEqual([])
    const report = scene.check()
    expect(report.violations, `seed ${SEED}`).toEqual([])
    expect(report.verdict, `seed ${SEED}`).toBe('pass')
    expect(report.counts.faults).toBe(ROUNDS)
  })
})

const HARMS = ['swallow', 'cut', 'delay', 'reset', 'black-hole'] as const

/** Every kind comes in turn, with what chance adds to it. */
async function harm(scene: SqlScene, round: number): Promise<string> {
  const { random } = scene
  const direction = random.pick(['toServer', 'toClient'] as const)
  const what = HARMS[round % HARMS.length] as (typeof HARMS)[number]
  switch (what) {
    case 'swallow':
      proxy.set({ toClient: { kind: 'swallow', answers: random.int(1, 4) } })
      break
    case 'cut':
      proxy.set({ [direction]: { kind: 'cut', afterBytes: random.int(0, 600) } })
      break
    case 'delay':
      proxy.set({
        toServer: { kind: 'delay', delayMs: 20, jitterMs: 30 },
        toClient: { kind: 'delay', delayMs: 20, jitterMs: 30 },
      })
      break
    case 'reset':
      proxy.set({ [direction]: { kind: 'reset' } })
      break
    case 'black-hole':
      proxy.set({ [direction]: { kind: 'black-hole' } })
      await rest(random.int(50, 300))
      proxy.resetConnections()
      return what
  }
  await rest(random.int(50, 300))
  return what
}

import { setTimeout as rest } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { openSqlEngine } from '../../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase, SqlDialect } from '../../../src/engines/sql/sql-dialect.ts'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'
import type { FaultCounters } from '../../../src/testing/fault.ts'
import { FaultProxy } from '../../../src/testing/fault-proxy.ts'
import type { Timer } from '../../../src/time/clock.ts'
import { SystemClock } from '../../../src/time/system-clock.ts'
import { EngineProcess } from '../../engine-process/engine-process.ts'
import { type DatabaseAddress, openDatabase } from '../../engine-process/open-database.ts'
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
/** Longer than anything that a command itself waits for. */
const SHORT_MS = 500

const patience = new Patience(60_000)

let server: HarmedServer
let proxy: FaultProxy
let direct: DatabaseAddress
let throughProxy: DatabaseAddress
const engines: LockEngine[] = []
let other: EngineProcess | undefined

/** Calls back when a commit is about to be sent. */
function onCommit({ dialect }: SqlDatabase, callback: () => void): SqlDialect {
  return {
    ...dialect,
    run: (connection, statements) => {
      if (statements.at(-1)?.texts[0] === 'commit') callback()
      return dialect.run(connection, statements)
    },
  }
}

/** What an engine does every now and then it does not do here: its answers might be the ones that get lost. */
class ShortClock extends SystemClock {
  override setTimer(delayMs: number, callback: () => void): Timer {
    const timer = super.setTimer(delayMs, callback)
    if (delayMs > SHORT_MS) timer.cancel()
    return timer
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
    const near = await openDatabase(direct)
    const open = async (): Promise<SqlDatabase> => {
      const database = await openDatabase(throughProxy)
      const swallow = (): void => {
        if (swallows === 0) return
        swallows -= 1
        proxy.set({ toClient: { kind: 'swallow' } })
      }
      const close = async (): Promise<void> => {
        await near.close()
        await database.close()
      }
      const { listen } = near
      return { ...database, listen, close, dialect: onCommit(database, swallow) }
    }
    const engine = await openSqlEngine(open, { clock: new ShortClock() })
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

/** How often each kind has been done so far. */
const COUNTS: Readonly<Record<(typeof HARMS)[number], (counters: FaultCounters) => number>> = {
  swallow: ({ answersSwallowed }) => answersSwallowed,
  cut: ({ connectionsCut }) => connectionsCut,
  delay: ({ toServer }) => toServer.piecesDelayed,
  reset: ({ connectionsReset }) => connectionsReset,
  'black-hole': ({ toServer, toClient }) => toServer.bytesDropped + toClient.bytesDropped,
}

/** Every kind comes in turn, with what chance adds to it. */
async function harm(scene: SqlScene, round: number): Promise<string> {
  const { random } = scene
  const direction = random.pick(['toServer', 'toClient'] as const)
  const what = HARMS[round % HARMS.length] as (typeof HARMS)[number]
  const before = COUNTS[what](proxy.counters)
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
      break
  }
  await patience.until(() => COUNTS[what](proxy.counters) > before, `${what} happens`)
  await rest(random.int(50, 300))
  if (what === 'black-hole') proxy.resetConnections()
  return what
}

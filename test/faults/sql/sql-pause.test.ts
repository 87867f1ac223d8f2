import { setTimeout as rest } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'
import { EngineProcess } from '../../engine-process/engine-process.ts'
import { HarmedServer, IS_LONG, openEngine, SEED, SQL_SERVERS } from './sql-databases.ts'
import { SqlScene } from './sql-scene.ts'

const PAUSES = IS_LONG ? 30 : 2
const TTL_MS = 1_000
const PAUSE_MS = 2_000
const CLIENTS = 12

const patience = new Patience(60_000)
let server: HarmedServer | undefined
let other: EngineProcess | undefined
let engine: LockEngine | undefined

afterEach(async () => {
  server?.service.resume()
  await engine?.close()
  await other?.stop()
  await server?.stop()
  server = other = engine = undefined
})

describe.each(SQL_SERVERS)('a database of $name', (kind) => {
  it(`may stop ${PAUSES} times for longer than a lease: nobody has what somebody else has`, async () => {
    server = await HarmedServer.start(kind)
    const { service } = server
    const database = await server.create()
    engine = await openEngine(database)
    other = await EngineProcess.start()
    const engines = [engine, await other.open({ database })]
    const scene = new SqlScene({ seed: SEED, engines, clients: CLIENTS, ttlMs: TTL_MS })
    scene.start()
    for (let pause = 0; pause < PAUSES; pause += 1) {
      await scene.untilAnswered(scene.random.int(50, 200))
      service.pause()
      scene.mark('pause')
      await patience.until(async () => {
        const { answered } = scene
        await rest(PAUSE_MS)
        return scene.answered === answered
      }, 'nobody answers for longer than a lease')
      service.resume()
      scene.mark('resume')
      scene.changeKeys()
    }
    await scene.untilAnswered(100)
    expect(await scene.end(), `seed ${SEED}`).toBe(CLIENTS)
    const report = scene.check()
    expect(report.violations, `seed ${SEED}`).toEqual([])
    expect(report.verdict, `seed ${SEED}`).toBe('pass')
    expect(report.counts.faults).toBe(2 * PAUSES)
  })
})

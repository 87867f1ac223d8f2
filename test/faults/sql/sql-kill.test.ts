import { afterEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { EngineProcess } from '../../engine-process/engine-process.ts'
import { HarmedServer, IS_LONG, openEngine, SEED, SQL_SERVERS } from './sql-databases.ts'
import { SqlScene } from './sql-scene.ts'

const KILLS = IS_LONG ? 40 : 2
const KILLS_PER_GENERATION = 2

let server: HarmedServer | undefined
let other: EngineProcess | undefined
let engine: LockEngine | undefined

afterEach(async () => {
  await engine?.close()
  await other?.stop()
  await server?.stop()
  server = other = engine = undefined
})

describe.each(SQL_SERVERS)('a database of $name', (kind) => {
  it(`loses nothing acknowledged by ${KILLS} times kill -9 under load`, async () => {
    server = await HarmedServer.start(kind)
    const { service } = server
    const database = await server.create()
    engine = await openEngine(database)
    other = await EngineProcess.start()
    const scene = new SqlScene({ seed: SEED, engines: [engine, await other.open({ database })] })
    scene.start()
    for (let kill = 0; kill < KILLS; kill += 1) {
      if (kill % KILLS_PER_GENERATION === 0) scene.changeKeys()
      await scene.untilAnswered(scene.random.int(50, 300))
      await service.kill()
      scene.mark('crash')
      await service.restart()
      scene.mark('restart')
    }
    await scene.untilAnswered(100)
    expect(await scene.end(), `seed ${SEED}`).toBe(12)
    const failed = [...scene.failures.keys()]
    expect(failed.join(), 'clients noticed').toContain('LOCK_ENGINE_UNAVAILABLE')
    expect(failed.filter((what) => !what.includes('LOCK_ENGINE_UNAVAILABLE'))).toEqual([])
    const report = scene.check()
    expect(report.violations, `seed ${SEED}`).toEqual([])
    expect(report.verdict, `seed ${SEED}`).toBe('pass')
    expect(report.counts.faults).toBe(2 * KILLS)
  })
})

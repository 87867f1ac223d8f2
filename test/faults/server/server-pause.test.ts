import { setTimeout as pass } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { connect } from '../../../src/locks/connect.ts'
import type { Locks } from '../../../src/locks/locks.ts'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'
import { ServerHolder } from './server-holder-process.ts'
import { HostClock } from './server-host-clock.ts'
import { checkServerHistory, type SceneOptions, ServerScene } from './server-scene.ts'
import { readServerStory } from './server-story.ts'

const SEED = process.env['HOLDFAST_SEED'] ?? String(Date.now() % 1_000_000)

/** A lease that a test waits for. With a grace no longer than it, it is one that sessions keep. */
const TTL_MS = 6_000

const patience = new Patience(60_000)
const clock = new HostClock()

async function openScene(options: Partial<SceneOptions>): Promise<ServerScene> {
  const scene = new ServerScene({
    seed: SEED,
    sessions: 90,
    restMsMax: 300,
    graceMs: 10_000,
    processes: 1,
    ...options,
  })
  onTestFinished(() => scene.close())
  await scene.open()
  return scene
}

async function openLocks(scene: ServerScene, owner: string): Promise<Locks> {
  const locks = await connect(scene.url, { owner })
  onTestFinished(() => locks.close())
  return locks
}

/** Everything that the clients were told has an explanation, and they were told enough. */
async function healAndCheck(scene: ServerScene): Promise<ReturnType<typeof readServerStory>> {
  const report = await scene.heal()
  expect(report.problems, `seed ${SEED}`).toEqual([])
  expect(report.served).toBe(90)
  const history = scene.history()
  const story = readServerStory(history)
  expect(Math.min(...story.openAtFaults)).toBeGreaterThan(0)
  expect(Math.min(...story.wentWell)).toBeGreaterThan(0)
  const checked = checkServerHistory(history)
  expect(checked.violations, `seed ${SEED}`).toEqual([])
  expect(checked.verdict, `seed ${SEED}`).toBe('pass')
  return story
}

it('a server that is stopped for less than a lease takes nothing from anyone', async () => {
  const scene = await openScene({ graceMs: 20_000 })
  const locks = await openLocks(scene, 'holder')
  const lock = await locks.acquire('kept', { ttl: 60_000 })
  for (const pauseMs of [500, 6_000]) {
    await scene.untilAnswered(300)
    scene.mark('crash')
    scene.server.pause()
    await pass(pauseMs)
    expect(lock.isHeld).toBe(true)
    scene.server.resume()
    scene.mark('restart')
  }
  await scene.untilAnswered(300)
  expect(lock.isHeld).toBe(true)
  await lock.release()
  const { outOfReach } = await healAndCheck(scene)
  expect(outOfReach, `seed ${SEED}`).toEqual([])
})

it('a server that is stopped for longer than a lease may take holds, from clients that know it by then', async () => {
  const scene = await openScene({ graceMs: TTL_MS, ttlMs: TTL_MS })
  const locks = await openLocks(scene, 'holder')
  const lock = await locks.acquire('taken', { ttl: TTL_MS })
  await scene.untilAnswered(300)
  scene.mark('crash')
  scene.server.pause()
  await patience.until(() => lock.signal.aborted, 'the holder stops to rely on it by itself')
  expect(lock.isHeld).toBe(false)
  await pass(1_000)
  scene.server.resume()
  scene.mark('restart')
  const others = await openLocks(scene, 'other')
  const next = await others.acquire('taken', { wait: 60_000 })
  expect(next.token).toBeGreaterThan(lock.token)
  await next.release()
  await scene.untilAnswered(300)
  await healAndCheck(scene)
})

it('a client that dies while its server is away is missed when the server is back', async () => {
  const scene = await openScene({ sessions: 0, graceMs: TTL_MS })
  const holder = await ServerHolder.start(scene.url, TTL_MS)
  onTestFinished(() => holder.close())
  await scene.kill()
  await holder.close()
  await scene.restart()
  expect(await scene.stats()).toMatchObject({ holds: 1, sessions: 1 })
  const others = await openLocks(scene, 'other')
  const next = await others.acquire('k', { wait: 60_000 })
  expect(next.token).toBeGreaterThan(holder.token)
  await next.release()
})

it('a client that is stopped for longer than its lease loses its lock, and knows it before it acts', async () => {
  const scene = await openScene({ sessions: 0, graceMs: TTL_MS })
  const holder = await ServerHolder.start(scene.url, TTL_MS)
  onTestFinished(() => holder.close())
  const others = await openLocks(scene, 'other')
  const waiting = others.acquire('k', { wait: 60_000 })
  holder.signal('SIGSTOP')
  const stoppedAtMs = clock.nowMs()
  const next = await waiting
  const grantedAtMs = clock.nowMs()
  expect(next.token).toBeGreaterThan(holder.token)
  expect(grantedAtMs - stoppedAtMs, 'its sockets were open').toBeGreaterThan(1_000)
  holder.signal('SIGCONT')
  expect(await holder.untilLost()).toMatchObject({ kind: 'lost', isHeld: false })
  expect(next.isHeld).toBe(true)
  await holder.leave()
  expect(Math.max(...holder.uses()), 'not once after it was lost').toBeLessThan(grantedAtMs)
  await next.release()
})

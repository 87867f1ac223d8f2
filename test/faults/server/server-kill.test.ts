import { afterEach, expect, it } from 'vitest'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'
import {
  checkServerHistory,
  type SceneOptions,
  ServerScene,
  unexpectedlyUnavailable,
} from './server-scene.ts'
import { readServerStory } from './server-story.ts'

const IS_LONG = process.env['HOLDFAST_TEST_DOSE'] === 'long'
const KILLS = IS_LONG ? 60 : 2
const SEED = process.env['HOLDFAST_SEED'] ?? String(Date.now() % 1_000_000)
const SESSIONS = 500
/** A key that outlives two kills has so many calls without an answer that one search in hundreds does not end. */
const KILLS_PER_GENERATION = IS_LONG ? 1 : 2
/** What the server may keep of keys that nobody has: only what it has to remember for a while. */
const KEYS_MAX = 44
const ENDED_PER_KEY_MAX = 64

const patience = new Patience(60_000)
let scene: ServerScene | undefined

function openScene(options: Partial<SceneOptions> = {}): ServerScene {
  scene = new ServerScene({
    seed: SEED,
    sessions: SESSIONS,
    restMsMax: 2_000,
    // However busy the machine: nobody who comes back as fast as it can is too late.
    graceMs: 120_000,
    processes: 2,
    ...options,
  })
  return scene
}

afterEach(async () => {
  await scene?.close()
  scene = undefined
})

it(`nothing acknowledged to ${SESSIONS} sessions is lost by ${KILLS} times kill -9 of their server`, async () => {
  const server = openScene()
  await server.open()
  for (let kill = 0; kill < KILLS; kill += 1) {
    server.changeKeys(Math.floor(kill / KILLS_PER_GENERATION))
    await server.untilAnswered(server.random.int(100, 1_500))
    await server.kill()
    await server.restart()
  }
  await server.untilAnswered(SESSIONS)
  const report = await server.heal()
  expect(report.problems, `seed ${SEED}`).toEqual([])
  expect(unexpectedlyUnavailable(report), `seed ${SEED}`).toEqual([])
  expect(report.served).toBe(SESSIONS)
  expect(report.losses, `seed ${SEED}: the grace is far longer than any restart`).toBe(0)
  const nothing = { holds: 0, waiters: 0, sessions: 0, references: 0 }
  await patience.until(async () => {
    const stats = await server.stats()
    return Object.keys(nothing).every((name) => stats[name as keyof typeof nothing] === 0)
  }, 'nothing is left when all have left')
  const generations = Math.ceil(KILLS / KILLS_PER_GENERATION)
  const { keys, ended } = await server.stats()
  expect(keys).toBeLessThanOrEqual(generations * KEYS_MAX)
  expect(ended).toBeLessThanOrEqual(generations * KEYS_MAX * ENDED_PER_KEY_MAX)

  const history = server.history()
  const story = readServerStory(history)
  expect(story.openAtFaults).toHaveLength(KILLS)
  expect(Math.min(...story.openAtFaults)).toBeGreaterThan(0)
  expect(Math.min(...story.wentWell)).toBeGreaterThan(0)
  expect(story.outOfReach, `seed ${SEED}`).toEqual([])
  const checked = checkServerHistory(history)
  expect(checked.violations, `seed ${SEED}`).toEqual([])
  expect(checked.verdict, `seed ${SEED}`).toBe('pass')
}, 1_800_000)

it('a server that comes back without its data is noticed', async () => {
  // Who asks again for what it had is granted it anew, and gives back an old token: the key stays taken.
  const server = openScene({ sessions: 100, restMsMax: 500, waitMs: 3_000 })
  await server.open()
  await server.untilAnswered(500)
  await server.kill()
  await server.restart('empty')
  await server.untilAnswered(500)
  await server.heal()
  const { verdict, violations } = checkServerHistory(server.history())
  expect(verdict).toBe('fail')
  const properties = violations.map(({ property }) => property)
  expect(properties, 'tokens are given again').toContain('fencing')
  expect(properties, 'no order explains what was seen').toContain('linearizability')
})

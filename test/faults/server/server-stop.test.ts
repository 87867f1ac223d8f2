import { afterEach, expect, it } from 'vitest'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'
import { checkServerHistory, ServerScene, unexpectedlyUnavailable } from './server-scene.ts'
import { readServerStory } from './server-story.ts'

const STOPS = process.env['HOLDFAST_TEST_DOSE'] === 'long' ? 40 : 2
const SEED = process.env['HOLDFAST_SEED'] ?? String(Date.now() % 1_000_000)
const SESSIONS = 200
const STOPS_PER_GENERATION = 2
const STOP_MS_MAX = 5_000
const STREAMS = ['/v1/events', '/lock/subscribe?type=pull&resource_id=r']

const patience = new Patience(60_000)
let scene: ServerScene | undefined

afterEach(async () => {
  await scene?.close()
  scene = undefined
})

function post(url: string, body: object): Promise<Response> {
  return fetch(url, { method: 'POST', body: JSON.stringify(body) })
}

/** Streams that only listen and a request that is held open, each told of the stop in its own way. */
async function openCompany(server: ServerScene): Promise<() => Promise<void>> {
  const key = 'company'
  const acquire = `${server.url}/v1/acquire`
  const streams = await Promise.all(STREAMS.map((path) => fetch(server.url + path)))
  await post(acquire, { key, owner: 'holder', request_id: '1', ttl_ms: 600_000 })
  const held = post(acquire, { key, owner: 'waiter', request_id: '1', wait_ms: 600_000 })
  await patience.until(async () => {
    const response = await fetch(`${server.url}/v1/locks/${key}`)
    const { queue } = (await response.json()) as { queue: unknown[] }
    return queue.length === 1
  }, 'the request waits')
  return async () => {
    const answer = await held
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(await answer.json()).toMatchObject({ retryable: true, applied: 'no' })
    await Promise.all(streams.map((stream) => stream.text()))
  }
}

it(`nothing acknowledged is lost by ${STOPS} orderly stops of a busy server, and everyone comes back`, async () => {
  const server = new ServerScene({
    seed: SEED,
    sessions: SESSIONS,
    restMsMax: 1_000,
    graceMs: 120_000,
    processes: 2,
  })
  scene = server
  await server.open()
  for (let stop = 0; stop < STOPS; stop += 1) {
    server.changeKeys(Math.floor(stop / STOPS_PER_GENERATION))
    await server.untilAnswered(server.random.int(100, 1_000))
    const assertDismissed = await openCompany(server)
    const [{ code, tookMs }] = await Promise.all([server.stop(), assertDismissed()])
    expect(code).toBe(0)
    expect(tookMs).toBeLessThan(STOP_MS_MAX)
    await server.restart()
  }
  await server.untilAnswered(SESSIONS)
  const report = await server.heal()
  expect(report.problems, `seed ${SEED}`).toEqual([])
  expect(unexpectedlyUnavailable(report), `seed ${SEED}`).toEqual([])
  expect(report.served).toBe(SESSIONS)
  expect(report.losses, `seed ${SEED}`).toBe(0)
  // The holder of the company never let go; its waiter hung up with the first server and did not return.
  await patience.until(async () => {
    const { holds, waiters, sessions, references } = await server.stats()
    return holds === 1 && waiters + sessions + references === 0
  }, 'nothing else is left when all have left')

  const history = server.history()
  const story = readServerStory(history)
  expect(story.openAtFaults).toHaveLength(STOPS)
  expect(Math.min(...story.openAtFaults)).toBeGreaterThan(0)
  expect(Math.min(...story.wentWell)).toBeGreaterThan(0)
  expect(story.outOfReach, `seed ${SEED}: nobody loses its place by a stop`).toEqual([])
  const checked = checkServerHistory(history)
  expect(checked.violations, `seed ${SEED}`).toEqual([])
  expect(checked.verdict, `seed ${SEED}`).toBe('pass')
}, 1_800_000)

import { afterEach, expect, it } from 'vitest'
import { Patience } from '../../src/testing/engine-suite/patience.ts'
import type { HistoryRecord } from '../../src/testing/history.ts'
import { checkServerHistory, ServerScene } from './server-scene.ts'

const IS_LONG = process.env['HOLDFAST_TEST_DOSE'] === 'long'
const KILLS = IS_LONG ? 60 : 6
const SEED = process.env['HOLDFAST_SEED'] ?? String(Date.now() % 1_000_000)
const SESSIONS = 500
const KILLS_PER_GENERATION = 2

const patience = new Patience(60_000)
let scene: ServerScene | undefined

afterEach(async () => {
  await scene?.close()
  scene = undefined
})

it(`nothing acknowledged to ${SESSIONS} sessions is lost by ${KILLS} times kill -9 of their server`, async () => {
  scene = new ServerScene({
    seed: SEED,
    sessions: SESSIONS,
    httpClients: 20,
    restMsMax: 2_000,
    graceMs: 30_000,
    processes: 2,
  })
  const t0 = Date.now()
  const lap = (what: string) => console.log(what, Date.now() - t0)
  await scene.open()
  lap('opened')
  for (let kill = 0; kill < KILLS; kill += 1) {
    scene.changeKeys(Math.floor(kill / KILLS_PER_GENERATION))
    await scene.untilAnswered(scene.random.int(100, 1_500))
    await scene.kill()
    lap('killed')
    await scene.restart()
    lap('restarted')
  }
  await scene.untilAnswered(500)
  lap('answered')
  const report = await scene.heal().catch(async (e) => { const l = await (await fetch(scene!.url + '/v1/locks?limit=10')).json() as any; console.log('DBG locks', JSON.stringify(l), await scene!.stats(), scene!.server.complaints); throw e })
  lap('healed')
  console.log(report)
  console.log(await scene.stats())
  const history = scene.history()
  const checked = checkServerHistory(history)
  lap('checked')
  console.log(checked.counts, checked.verdict, checked.undecided, checked.violations.slice(0, 10).map(({property, message}) => [property, message]), checked.violations.length)
  expect(checked.violations.map(({message}) => message), `seed ${SEED}`).toEqual([])
  expect(checked.verdict, `seed ${SEED}`).toBe('pass')
  void patience
  void (history as HistoryRecord[])
}, 1_800_000)

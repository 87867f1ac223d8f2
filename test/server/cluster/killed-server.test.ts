import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { post, ServeRig } from '../../cli/serve/served-process.ts'
import { MYSQL, POSTGRES, SQLITE, type TestServer } from '../../engines/sql/test-servers.ts'

const TIMEOUT_MS = 120_000
const AT_ONCE = 8
/** Of a hold that its owner's server takes with it: whoever waits for it comes while it is held. */
const TTL_MS = 8_000
/** So many locks of every worker are acknowledged before the kill. */
const HELD_BEFORE = 3
const rig = new ServeRig()

afterEach(() => rig.close())

interface Acknowledged {
  readonly key: string
  readonly token: number
}

/** Takes one lock after the other until the server is gone, and notes those that it was told to hold. */
async function takeUntilGone(url: string, worker: number, held: Acknowledged[]): Promise<void> {
  for (let index = 0; ; index += 1) {
    const key = `w${worker}/${index}`
    try {
      const response = await post(url, '/v1/acquire', { key, owner: 'o', ttl_ms: 3_600_000 })
      const { token } = (await response.json()) as { readonly token: number }
      held.push({ key, token })
    } catch {
      return
    }
  }
}

describe.each([
  { kind: SQLITE, toUrl: (file: string) => `sqlite:${file}` },
  { kind: POSTGRES, toUrl: (url: string) => url },
  { kind: MYSQL, toUrl: (url: string) => url },
])('on $kind.name', { timeout: TIMEOUT_MS }, ({ kind, toUrl }) => {
  let database: TestServer

  beforeAll(async () => {
    database = await kind.start()
  }, TIMEOUT_MS)
  afterAll(() => database.stop())

  it('a server that is killed takes no acknowledged hold with it, and nobody waits for it', async () => {
    const engine = toUrl(await database.create())
    const [victim, survivor] = await Promise.all([
      rig.serve(['--engine', engine]),
      rig.serve(['--engine', engine]),
    ])
    const held = Array.from({ length: AT_ONCE }, (): Acknowledged[] => [])
    const taking = held.map((ofWorker, worker) => takeUntilGone(victim.url, worker, ofWorker))
    const ofVictim = post(victim.url, '/v1/acquire', { key: 'k', owner: 'a', ttl_ms: TTL_MS })
    expect(await (await ofVictim).json()).toMatchObject({ outcome: 'granted' })
    const waiting = post(survivor.url, '/v1/acquire', { key: 'k', owner: 'b', wait_ms: 60_000 })
    await expect
      .poll(async () => (await (await fetch(`${survivor.url}/v1/stats`)).json()) as object, {
        timeout: TIMEOUT_MS,
      })
      .toMatchObject({ waiters: 1 })
    await expect
      .poll(() => Math.min(...held.map(({ length }) => length)), { timeout: TIMEOUT_MS })
      .toBeGreaterThanOrEqual(HELD_BEFORE)
    victim.started.kill('SIGKILL')
    await Promise.all(taking)
    for (const { key, token } of held.flat()) {
      const shown = await fetch(`${survivor.url}/v1/locks/${encodeURIComponent(key)}`)
      expect(await shown.json()).toMatchObject({ holders: [{ owner: 'o', token }] })
    }
    expect(await (await waiting).json()).toMatchObject({ outcome: 'granted', owner: 'b' })
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Locks } from '../../../src/locks/locks.ts'
import { MYSQL, POSTGRES, SQLITE, type TestServer } from '../../engines/sql/test-servers.ts'
import { Cluster } from './cluster-rig.ts'

const TIMEOUT_MS = 120_000
const SERVERS = 3
/** A restart takes less, on any machine. */
const GRACE_MS = 20_000
const KEYS = ['a', 'b']
const isLong = process.env['HOLDFAST_TEST_DOSE'] === 'long'
const ROUNDS = isLong ? 20 : 1

/** What the locks guard: who is inside, how often anybody was, and the highest token seen. */
class Guarded {
  inside = 0
  entered = 0
  token = 0
  readonly faults: string[] = []

  async use(token: number): Promise<void> {
    this.inside += 1
    if (this.inside > 1) this.faults.push('two are inside')
    if (token <= this.token) this.faults.push(`token ${token} after ${this.token}`)
    this.token = token
    this.entered += 1
    await new Promise((resolve) => setTimeout(resolve, 2))
    this.inside -= 1
  }
}

/** Takes its turns until it is told to stop. Returns how many it had. */
async function work(
  locks: Locks,
  guarded: Map<string, Guarded>,
  signal: AbortSignal,
): Promise<number> {
  let turns = 0
  while (!signal.aborted) {
    for (const [key, what] of guarded) {
      await locks.withLock(key, { ttl: '20s', wait: '1m' }, (lock) => what.use(lock.token))
      turns += 1
    }
  }
  return turns
}

describe.each([SQLITE, POSTGRES, MYSQL])('on $name', { timeout: ROUNDS * TIMEOUT_MS }, (kind) => {
  let database: TestServer

  beforeAll(async () => {
    database = await kind.start()
  }, TIMEOUT_MS)
  afterAll(() => database.stop())

  it('a rolling restart under load loses nothing and lets nobody in twice', async () => {
    const cluster = await Cluster.open({
      kind,
      where: await database.create(),
      count: SERVERS,
      sessionGraceMs: GRACE_MS,
    })
    const keeper = await cluster.locks(0, 'keeper')
    const kept = await keeper.acquire('kept', { owner: 'keeper', ttl: '1h' })
    const clients = await Promise.all(
      Array.from({ length: 2 * SERVERS }, (_, index) => cluster.locks(index % SERVERS)),
    )
    const guarded = new Map(KEYS.map((key) => [key, new Guarded()]))
    const entered = (): number =>
      [...guarded.values()].reduce((sum, { entered: one }) => sum + one, 0)
    const stop = new AbortController()
    const working = Promise.all(clients.map((locks) => work(locks, guarded, stop.signal)))
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let index = 0; index < SERVERS; index += 1) {
        const before = entered()
        await expect.poll(entered).toBeGreaterThan(before + clients.length)
        await cluster.restart(index)
      }
    }
    const before = entered()
    await expect.poll(entered).toBeGreaterThan(before + clients.length)
    stop.abort()
    const turns = await working
    expect([...guarded.values()].flatMap(({ faults }) => faults)).toEqual([])
    expect(turns.reduce((sum, one) => sum + one, 0)).toBe(entered())
    expect(Math.min(...turns)).toBeGreaterThan(0)
    const { holders } = await cluster.engine(1).read({ kind: 'inspect', key: 'kept' })
    expect(holders).toMatchObject([{ owner: 'keeper', token: kept.token }])
  })
})

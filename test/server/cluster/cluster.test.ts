import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Acquire } from '../../../src/law/model/commands.ts'
import { MYSQL, POSTGRES, SQLITE, type TestServer } from '../../engines/sql/test-servers.ts'
import { OpenRequest, OpenStream } from '../locks/lock-rig.ts'
import { EventLines } from '../operations/event-lines.ts'
import { RawClient } from '../sessions/raw-client.ts'
import { Cluster, GRACE_MS } from './cluster-rig.ts'

const TIMEOUT_MS = 120_000
const isLong = process.env['HOLDFAST_TEST_DOSE'] === 'long'
const FOREVER = Number.POSITIVE_INFINITY

function acquire(owner: string, fields: Partial<Acquire> = {}): Acquire {
  return { kind: 'acquire', key: 'k', owner, requestId: '1', ttlMs: 20_000, ...fields }
}

async function openClient(url: string, session?: string): Promise<RawClient> {
  const client = await RawClient.open(url, { session })
  onTestFinished(() => client.cut())
  return client
}

/** Longer than a server waits for a client whose connection broke; it beats meanwhile, if it is there. */
async function outlastGrace(client?: RawClient): Promise<void> {
  const untilMs = performance.now() + 1.3 * GRACE_MS
  for (let beat = 1; performance.now() < untilMs; beat += 1) {
    client?.heartbeat(beat)
    await new Promise((resolve) => setTimeout(resolve, GRACE_MS / 10))
  }
}

describe.each([SQLITE, POSTGRES, MYSQL])(
  'servers on one $name',
  { timeout: TIMEOUT_MS },
  (kind) => {
    let database: TestServer

    beforeAll(async () => {
      database = await kind.start()
    }, TIMEOUT_MS)
    afterAll(() => database.stop())

    async function open(count: number): Promise<Cluster> {
      return Cluster.open({ kind, where: await database.create(), count })
    }

    it('a release through one wakes a waiter at another', async () => {
      const cluster = await open(2)
      const [one, other] = [await cluster.locks(0, 'a'), await cluster.locks(1, 'b')]
      const held = await one.acquire('k')
      const waiting = other.acquire('k')
      await expect.poll(async () => (await cluster.waiters(0, 'k')).length).toBe(1)
      await held.release()
      const next = await waiting
      expect(next.token).toBeGreaterThan(held.token)
      expect(await cluster.holders(0, 'k')).toMatchObject([expect.stringMatching(/^b-/)])
    })

    it.each([2, 3])(
      'waiters at %i servers are served in the order in which they came',
      async (count) => {
        const cluster = await open(count)
        const clients = await Promise.all(
          Array.from({ length: count }, (_, index) => cluster.locks(index)),
        )
        const held = await clients[0]?.acquire('k')
        const order: number[] = []
        const turns: Promise<void>[] = []
        for (let arrival = 0; arrival < 3 * count; arrival += 1) {
          const waiting = clients[(arrival * 2) % count]?.acquire('k')
          turns.push(
            (async () => {
              const lock = await waiting
              order.push(arrival)
              await lock?.release()
            })(),
          )
          await expect.poll(async () => (await cluster.waiters(0, 'k')).length).toBe(arrival + 1)
        }
        await held?.release()
        await Promise.all(turns)
        expect(order).toEqual(order.toSorted((one, other) => one - other))
        expect(order).toHaveLength(3 * count)
      },
    )

    it('who listens at one hears of what happens at the others', async () => {
      const cluster = await open(3)
      const stream = await OpenStream.open(`${cluster.url(0)}/v1/events`, {})
      onTestFinished(() => stream.close())
      await cluster.post(1, '/v1/acquire', { key: 'k', owner: 'a' })
      await cluster.post(2, '/v1/release', { key: 'k', owner: 'a' })
      await stream.until(2)
      expect(stream.events).toMatchObject([
        { event: 'granted', key: 'k', owner: 'a' },
        { event: 'released', key: 'k', owner: 'a' },
      ])
    })

    it('a node that subscribes at one is told of its turn, and of a success, at another', async () => {
      const cluster = await open(2)
      const pull = (node: string) => ({ type: 'pull', resource_id: 'layer', node_id: node })
      await cluster.post(0, '/lock', pull('node-a'))
      expect(await cluster.post(1, '/lock', pull('node-b'))).toMatchObject({ queued: true })
      const path = '/lock/subscribe?type=pull&resource_id=layer&node_id=node-b'
      const lines = await EventLines.open(cluster.url(1) + path, {})
      onTestFinished(() => lines.close())
      await cluster.post(0, '/unlock', { ...pull('node-a'), error: 'disk full' })
      await lines.untilEvents(1)
      expect(lines.events).toMatchObject([{ node_id: 'node-b', granted: true }])
      expect(await cluster.post(0, '/lock', pull('node-b'))).toMatchObject({ acquired: true })
      await cluster.post(0, '/unlock', { ...pull('node-b'), error: '' })
      await lines.untilEvents(2)
      expect(lines.events[1]).toMatchObject({ node_id: 'node-b', success: true })
      expect(await cluster.post(1, '/lock', pull('node-c'))).toMatchObject({ skip: true })
    })

    // These wait for a real grace to pass. What a database has to do with it is the same everywhere.
    const isForGraces = isLong || kind === POSTGRES

    describe.runIf(isForGraces)('a session whose client', () => {
      it('comes to another server goes on there', async () => {
        const cluster = await open(2)
        const before = await openClient(cluster.url(0))
        before.ask(1, acquire('a', { session: before.session }))
        await before.answer(1)
        before.cut()
        const after = await openClient(cluster.url(1), before.session)
        await outlastGrace(after)
        expect(await cluster.holders(0, 'k')).toEqual(['a'])
        after.goodbye()
        await after.closed
        expect(await cluster.holders(0, 'k')).toEqual([])
      })

      it('comes to none keeps what it holds until the lease ends', async () => {
        const cluster = await open(2)
        const client = await openClient(cluster.url(0))
        client.ask(1, acquire('a', { session: client.session, ttlMs: 3 * GRACE_MS }))
        await client.answer(1)
        client.cut()
        await outlastGrace()
        expect(await cluster.holders(1, 'k')).toEqual(['a'])
        await expect.poll(() => cluster.holders(1, 'k'), { timeout: 20_000 }).toEqual([])
      })

      it('waits goes on waiting in its place at another server', async () => {
        const cluster = await open(2)
        await cluster.engine(0).apply(acquire('holder'))
        const before = await openClient(cluster.url(0))
        const wait = acquire('a', { session: before.session, waitMs: FOREVER })
        before.ask(1, wait)
        await expect.poll(() => cluster.waiters(1, 'k')).toEqual(['a'])
        const next = cluster.engine(1).apply(acquire('b', { waitMs: FOREVER }))
        await expect.poll(() => cluster.waiters(1, 'k')).toEqual(['a', 'b'])
        before.cut()
        const after = await openClient(cluster.url(1), before.session)
        after.ask(1, wait)
        await outlastGrace(after)
        expect(await cluster.waiters(0, 'k')).toEqual(['a', 'b'])
        await cluster.engine(0).apply({ kind: 'release', key: 'k', owner: 'holder' })
        expect(await after.answer(1)).toMatchObject({ kind: 'granted' })
        after.goodbye()
        expect(await next).toMatchObject({ kind: 'granted' })
      })
    })

    it.runIf(isForGraces)(
      'a request that is asked for again at another server keeps its place',
      async () => {
        const cluster = await open(2)
        await cluster.engine(0).apply(acquire('holder'))
        const asked = { key: 'k', owner: 'a', wait_ms: 'forever', request_id: '1' }
        const first = new OpenRequest(`${cluster.url(0)}/v1/acquire`, asked)
        await expect.poll(() => cluster.waiters(0, 'k')).toEqual(['a'])
        first.hangUp()
        const again = new OpenRequest(`${cluster.url(1)}/v1/acquire`, asked)
        await outlastGrace()
        expect(await cluster.waiters(0, 'k')).toEqual(['a'])
        await cluster.engine(0).apply({ kind: 'release', key: 'k', owner: 'holder' })
        expect((await again.answer).body).toMatchObject({ outcome: 'granted', owner: 'a' })
        await outlastGrace()
        expect(await cluster.holders(1, 'k')).toEqual(['a'])
      },
    )
  },
)

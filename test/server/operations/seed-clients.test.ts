import { afterEach, describe, expect, it } from 'vitest'
import type { LawSettings } from '../../../src/law/model/settings.ts'
import { OperationsRig } from './operations-rig.ts'
import { SeedPollingClient, SeedSseClient } from './seed-clients.ts'

let rig: OperationsRig
let clients: SeedSseClient[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) client.stop()
  clients = []
  await rig.close()
})

async function open(settings: Partial<LawSettings> = {}): Promise<void> {
  rig = await OperationsRig.open(settings)
}

function listener(node: string, type = 'pull'): SeedSseClient {
  const client = new SeedSseClient({ url: rig.url, clock: rig.clock, node, type })
  clients.push(client)
  return client
}

function poller(node: string, type = 'pull'): SeedPollingClient {
  return new SeedPollingClient({ url: rig.url, clock: rig.clock, node, type })
}

const ACQUIRED = { acquired: true, completed: false, error: '' }
const COMPLETED = { acquired: false, completed: true, error: '' }

/** Asks, and resolves when the client listens on its stream. */
async function waiting(client: SeedSseClient): Promise<{ result: Promise<unknown> }> {
  const before = client.streams.length
  const result = client.lock()
  await untilTrue(() => client.streams.length > before)
  return { result }
}

/** The result of a wait, while a few seconds pass. */
async function soon(result: Promise<unknown>): Promise<unknown> {
  let isSettled = false
  const settled = result.finally(() => {
    isSettled = true
  })
  for (let seconds = 0; seconds < 5 && !isSettled; seconds += 1) {
    for (let turns = 0; turns < 20 && !isSettled; turns += 1) await rig.get('/refs?resource_id=x')
    if (!isSettled) await rig.advance(1_000)
  }
  return settled
}

describe.each(['server', 'client', 'mutex'] as const)('the SSE client, %s coordinating', (how) => {
  it('gets a free lock, and releases it', async () => {
    await open({ coordination: how })
    const a = listener('node-a', 'image-layer')
    expect(await a.lock()).toEqual(ACQUIRED)
    expect(await a.unlock()).toBe(true)
  })

  it('gets the lock after a failure of the one before', async () => {
    await open({ coordination: how })
    const [a, b] = [listener('node-a'), listener('node-b')]
    await a.lock()
    const { result } = await waiting(b)
    await a.unlock('disk full')
    expect(await result).toEqual(ACQUIRED)
  })

  it('keeps its place for minutes of comments, asking every 30 s', async () => {
    await open({ coordination: how, operationTtlMs: 24 * 3_600_000 })
    const [a, b, c] = [listener('node-a'), listener('node-b'), listener('node-c')]
    await a.lock()
    const first = await waiting(b)
    const second = await waiting(c)
    for (let rounds = 0; rounds < 12; rounds += 1) {
      const [streamsOfB, streamsOfC] = [b.streams.length, c.streams.length]
      await rig.advance(30_000)
      await untilTrue(() => b.streams.length > streamsOfB && c.streams.length > streamsOfC)
    }
    expect(b.asked).toBe(13)
    await a.unlock('disk full')
    expect(await first.result).toEqual(ACQUIRED)
    await b.unlock('disk full')
    expect(await soon(second.result)).toEqual(ACQUIRED)
  })
})

describe('the SSE client', () => {
  it('hears of a success and leaves, where the server coordinates', async () => {
    await open()
    const [a, b, c] = [listener('node-a'), listener('node-b'), listener('node-c')]
    await a.lock()
    const results = [await waiting(b), await waiting(c)]
    await a.unlock()
    for (const { result } of results) expect(await result).toEqual(COMPLETED)
    const { body } = await rig.get('/refs?resource_id=layer')
    expect(body).toEqual({
      resource_id: 'layer',
      count: 3,
      nodes: ['node-a', 'node-b', 'node-c'],
    })
  })

  it('does not wait for ever when it is told to skip, which it ignores', async () => {
    await open()
    const [a, b] = [listener('node-a'), listener('node-b')]
    await a.lock()
    await a.unlock()
    expect(await b.lock()).toEqual(COMPLETED)
  })

  it('hears of a success that came between asking and listening, where clients coordinate', async () => {
    await open({ coordination: 'client' })
    const a = listener('node-a')
    await a.lock()
    await rig.lock({ node_id: 'node-b' })
    await a.unlock()
    const stream = await rig.subscribe()
    expect(await stream.untilEvents(1)).toMatchObject([{ node_id: 'node-a', success: true }])
  })

  it('runs after one another in a mutex, each of them once', async () => {
    await open({ coordination: 'mutex' })
    const [a, b, c] = [listener('node-a'), listener('node-b'), listener('node-c')]
    await a.lock()
    const first = await waiting(b)
    const second = await waiting(c)
    await a.unlock()
    expect(await first.result).toEqual(ACQUIRED)
    await b.unlock()
    expect(await soon(second.result)).toEqual(ACQUIRED)
    expect(await c.unlock()).toBe(true)
  })

  it('is refused at once where multi-node is off, and does not try again', async () => {
    await open({ multiNode: false })
    const [a, b] = [listener('node-a'), listener('node-b')]
    await a.lock()
    const { error } = await b.lock()
    expect(error).toMatch(/./)
    expect(SeedSseClient.isRetried(error)).toBe(false)
  })

  it('holds its lock for an hour without renewing it', async () => {
    await open()
    const [a, b] = [listener('node-a'), listener('node-b')]
    await a.lock()
    const { result } = await waiting(b)
    await rig.advance(3_599_000)
    expect((await rig.get('/lock/status?type=pull&resource_id=layer')).body).toMatchObject({
      held: true,
      holder: 'node-a',
    })
    expect(await a.unlock()).toBe(true)
    expect(await result).toEqual(COMPLETED)
  })
})

describe.each(['server', 'client', 'mutex'] as const)(
  'the polling client, %s coordinating',
  (how) => {
    it('gets the lock after a failure of the one before, by polling', async () => {
      await open({ coordination: how })
      const [a, b] = [poller('node-a'), poller('node-b')]
      expect(await a.lock()).toEqual(ACQUIRED)
      expect(await b.lock()).toBe('waiting')
      expect(await b.poll()).toBe('waiting')
      await a.unlock('disk full')
      expect(await b.poll()).toEqual(ACQUIRED)
      // The poll claimed it: it does not go to the next when the time to claim has passed.
      await rig.advance(60_000)
      expect(await b.unlock()).toBe(true)
    })

    it('keeps its place by polling every 500 ms, and by nothing else', async () => {
      await open({ coordination: how })
      const [a, b, c] = [poller('node-a'), poller('node-b'), poller('node-c')]
      await a.lock()
      await b.lock()
      await c.lock()
      for (let times = 0; times < 200; times += 1) {
        await rig.advance(500)
        expect(await c.poll()).toBe('waiting')
      }
      await a.unlock('disk full')
      expect(await c.poll()).toEqual(ACQUIRED)
    })

    it('asks again after a restart, where nothing is known of it', async () => {
      await open({ coordination: how })
      const b = poller('node-b')
      expect(await b.poll()).toEqual(ACQUIRED)
      expect(b.asked).toBe(1)
    })
  },
)

describe('the polling client', () => {
  it('skips after a success where the server coordinates, and then uses the resource', async () => {
    await open()
    const [a, b] = [poller('node-a'), poller('node-b')]
    await a.lock()
    await b.lock()
    await a.unlock()
    expect(await b.poll()).toEqual(COMPLETED)
    expect((await rig.get('/refs?resource_id=layer')).body).toMatchObject({
      nodes: ['node-a', 'node-b'],
    })
  })

  it('asks again after a success where clients coordinate, because its queue was dissolved', async () => {
    await open({ coordination: 'client' })
    const [a, b] = [poller('node-a'), poller('node-b')]
    await a.lock()
    await b.lock()
    await a.unlock()
    expect(await b.poll()).toEqual(ACQUIRED)
    expect(b.asked).toBe(2)
  })

  it('gets the lock after a success in a mutex', async () => {
    await open({ coordination: 'mutex' })
    const [a, b] = [poller('node-a'), poller('node-b')]
    await a.lock()
    await b.lock()
    await a.unlock()
    expect(await b.poll()).toEqual(ACQUIRED)
    expect(b.asked).toBe(1)
  })

  it('loses its grant to the next when it stops polling', async () => {
    await open()
    const [a, b, c] = [poller('node-a'), poller('node-b'), poller('node-c')]
    await a.lock()
    await b.lock()
    await c.lock()
    await a.unlock('disk full')
    await rig.advance(10_000)
    expect(await c.poll()).toEqual(ACQUIRED)
  })
})

async function untilTrue(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await rig.get('/refs?resource_id=layer')
}

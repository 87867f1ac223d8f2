import { describe, expect, it, onTestFinished } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import type { Query } from '../../../src/engine/queries.ts'
import { CLOSE_CODES, OPEN_REQUESTS_MAX } from '../../../src/wire/session/session-limits.ts'
import type { ServerMessage } from '../../../src/wire/session/session-message.ts'
import type { RawClient } from './raw-client.ts'
import { openTestEngine } from '../test-engine.ts'
import { GRACE_MS, openSessionRig, patience } from './session-rig.ts'

describe('a client that does not read', () => {
  it('is not read from either, and dropped when its grace is over', async () => {
    const rig = await openSessionRig()
    for (let index = 0; index < 1_000; index += 1) {
      const key = `${'x'.repeat(480)}-${index}`
      await rig.engine.apply({ kind: 'acquire', key, owner: 'o'.repeat(250), requestId: '1' })
    }
    const client = await rig.client()
    client.socket.pause()
    let id = 0
    // Every reply has about a megabyte; what the server took and could not send is bounded.
    await patience.until(() => {
      for (let count = 0; count < 20; count += 1) {
        id += 1
        client.read(id, { kind: 'list', limit: 1_000, prefix: 'x'.repeat(400) })
      }
      return client.socket.bufferedAmount > 64 * 1024
    }, 'the server has stopped reading')
    expect(process.memoryUsage().arrayBuffers).toBeLessThan(512 * 1024 * 1024)
    await patience.until(async () => {
      await rig.socketClock.advance(1_000)
      client.socket.resume()
      return client.socket.readyState === client.socket.CLOSED
    }, 'it is dropped')
  }, 60_000)

  it('is cut when more waits for it than its limit', async () => {
    const limits = { unsent: 2 * 1024 * 1024 }
    const rig = await openSessionRig({ engine: await openWordyEngine(), limits })
    const client = await rig.client()
    client.socket.pause()
    const ids = Array.from({ length: 200 }, (_, id) => id)
    client.say(...ids.map((id) => [id, { kind: 'read', query: INSPECT }] as const))
    await patience.until(async () => {
      client.socket.ping()
      return client.socket.readyState === client.socket.CLOSED
    }, 'it is cut')
    expect((await client.closed).code).toBe(1006)
    expect(rig.socketClock.nowMs()).toBeLessThan(GRACE_MS)
  }, 60_000)

  it('and sends pings is not answered those either', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    let pongs = 0
    client.socket.on('pong', () => {
      pongs += 1
    })
    const sent = 200_000
    client.socket.pause()
    const before = process.memoryUsage().heapUsed
    for (let count = 0; count < sent; count += 1) {
      client.socket.ping('x'.repeat(100))
      if (count % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await patience.until(() => client.socket.bufferedAmount === 0, 'everything was sent')
    client.socket.resume()
    client.ask(1, { kind: 'sweep' })
    await client.answer(1)
    expect(pongs).toBeGreaterThan(0)
    expect(pongs).toBeLessThan(sent)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(256 * 1024 * 1024)
  }, 60_000)

  it('is told reset instead of more events than it keeps up with', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.say([1, { kind: 'watch', watch: 5 }])
    await client.answer(1)
    client.socket.pause()
    const meta = 'x'.repeat(400)
    for (let round = 0; round < 40_000; round += 1) {
      await rig.engine.apply({ kind: 'acquire', key: meta, owner: `o${round}`, requestId: '1' })
      if (round % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    client.socket.resume()
    await patience.until(() => client.heard.some(isReset), 'it is told that it missed something')
    const told = client.heard.filter(([, { kind }]) => kind === 'event').length
    expect(told).toBeGreaterThan(100)
    expect(told).toBeLessThan(40_000)
    expect(client.heard.filter(isReset)).toHaveLength(1)
    await rig.engine.apply({ kind: 'acquire', key: 'after', owner: 'a', requestId: '1' })
    await patience.until(() => !isReset(client.heard.at(-1)), 'events go on')
    client.say([3, { kind: 'unwatch', watch: 5 }])
    await client.answer(3)
  })

  it('may not have more open requests than a session has room for', async () => {
    const rig = await openSessionRig()
    const keys = Array.from({ length: 8 }, (_, index) => `key-${index}`)
    for (const key of keys) {
      await rig.engine.apply({ kind: 'acquire', key, owner: 'holder', requestId: '1' })
    }
    const client = await rig.client()
    const waitMs = Number.POSITIVE_INFINITY
    for (let first = 0; first < OPEN_REQUESTS_MAX; first += 1_024) {
      const ids = Array.from({ length: 1_024 }, (_, index) => first + index)
      client.say(
        ...ids.map((id) => {
          const key = keys[id % keys.length] as string
          return [id, { kind: 'acquire', key, owner: `o${id}`, requestId: '1', waitMs }] as const
        }),
      )
    }
    await patience.until(async () => {
      return (await rig.engine.read({ kind: 'stats' })).waiters === OPEN_REQUESTS_MAX
    }, 'all of them wait')
    client.read(0, INSPECT)
    expect(await client.answer(0)).toMatchObject({ kind: 'failed', code: 'LOCK_LIMIT' })
  }, 60_000)

  it.each([
    ['above the last', OPEN_REQUESTS_MAX],
    ['that is negative', -1],
    ['that is no whole number', 1.5],
  ])('may not use an id %s', async (_, id) => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(id, { kind: 'sweep' })
    expect((await client.closed).code).toBe(CLOSE_CODES.protocol)
  })

  it('may not use the id of a request that still waits', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    await rig.engine.apply({ kind: 'acquire', key: 'k', owner: 'holder', requestId: '1' })
    const asked = { kind: 'acquire', key: 'k', owner: 'a', waitMs: 60_000 } as const
    client.say([1, { ...asked, requestId: '1' }], [1, { ...asked, requestId: '2' }])
    expect(await client.closed).toMatchObject({ reason: 'the id 1 is in use' })
  })
})

/** One whose replies have a megabyte: the server has to keep many of them before it is too much. */
async function openWordyEngine(): Promise<LockEngine> {
  const engine = await openTestEngine()
  onTestFinished(() => engine.close())
  const read = async (query: Query): Promise<unknown> => ({
    ...(await engine.read(query)),
    words: 'x'.repeat(1024 * 1024),
  })
  return new Proxy(engine, {
    get: (target, name) => {
      const value: unknown = name === 'read' ? read : Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const INSPECT = { kind: 'inspect', key: 'k' } as const

function isReset(heard: readonly [number, ServerMessage] | undefined): boolean {
  return heard?.[1].kind === 'event' && heard[1].event.kind === 'reset'
}

describe('many sessions', () => {
  it('hold, are lost together, and leave nothing behind', async () => {
    const SESSIONS = 2_000
    const { engine, clock, ...rig } = await openSessionRig({
      limits: { connections: 2 * SESSIONS },
    })
    const clients: RawClient[] = []
    while (clients.length < SESSIONS) {
      const some = Array.from({ length: 100 }, () => rig.client())
      clients.push(...(await Promise.all(some)))
    }
    await Promise.all(
      clients.map((client, index) => {
        const { session } = client
        const key = `key-${index}`
        client.ask(1, { kind: 'acquire', key, owner: 'a', requestId: '1', session, ttlMs: 60_000 })
        return client.answer(1)
      }),
    )
    const during = await engine.read({ kind: 'stats' })
    expect([during.sessions, during.holds]).toEqual([SESSIONS, SESSIONS])
    for (const client of clients) client.cut()
    await Promise.all(clients.map(({ closed }) => closed))
    await clock.advance(60_000 + GRACE_MS)
    const after = await engine.read({ kind: 'stats' })
    expect([after.sessions, after.holds]).toEqual([0, 0])
  }, 120_000)
})

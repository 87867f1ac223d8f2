import { describe, expect, it, onTestFinished } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import type { Query } from '../../../src/engine/queries.ts'
import type { PackWriter } from '../../../src/protocol/session/pack-writer.ts'
import { writeCommand } from '../../../src/protocol/session/command-codec.ts'
import {
  OPEN_REQUESTS_MAX,
  UNCONFIRMED_BYTES_MAX,
} from '../../../src/server/sessions/connection-limits.ts'
import { CLOSE_CODES } from '../../../src/protocol/session/session-limits.ts'
import { writeUnwatch, writeWatch } from '../../../src/protocol/session/client-frames.ts'
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

  it('or reads and never says so, is given up when too much is kept for it', async () => {
    const rig = await openSessionRig({ engine: await openWordyEngine() })
    const client = await rig.client()
    // It reads all of it and looks at none, which would take its time.
    client.socket.removeAllListeners('message')
    let asked = 0
    const ask = (): void => {
      asked += 1
      client.read(asked, { kind: 'inspect', key: 'k' })
    }
    let bytes = 0
    client.socket.on('message', (data: Buffer) => {
      bytes += data.length
      ask()
    })
    ask()
    expect(await client.closed).toEqual({
      code: CLOSE_CODES.overflow,
      reason: 'nothing that was sent is confirmed',
    })
    expect(bytes).toBeGreaterThan(UNCONFIRMED_BYTES_MAX - 4 * 1024 * 1024)
    expect(bytes).toBeLessThan(UNCONFIRMED_BYTES_MAX + 4 * 1024 * 1024)
  }, 60_000)

  it('is told reset instead of more events than it keeps up with', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.say((writer) => writeWatch(writer, 1, {}))
    await client.hears('done', 1)
    const meta = 'x'.repeat(400)
    for (let round = 0; round < 8_000; round += 1) {
      await rig.engine.apply({ kind: 'acquire', key: meta, owner: `o${round}`, requestId: '1' })
    }
    client.ask(2, { kind: 'sweep' })
    await client.hears('outcome', 2)
    const told = client.heard.filter(([name]) => name === 'event').length
    expect(told).toBeGreaterThan(100)
    expect(told).toBeLessThan(8_000)
    client.confirm(Number(client.heard.findLast(([name]) => name === 'frame')?.[1]))
    await patience.until(
      () => client.heard.some(([name, , event]) => name === 'event' && isReset(event)),
      'it is told that it missed something',
    )
    client.say((writer) => writeUnwatch(writer, 3, 1))
    await client.hears('done', 3)
  })

  it('may not have more open requests than a session has room for', async () => {
    const rig = await openSessionRig()
    const keys = Array.from({ length: 8 }, (_, index) => `key-${index}`)
    for (const key of keys) {
      await rig.engine.apply({ kind: 'acquire', key, owner: 'holder', requestId: '1' })
    }
    const client = await rig.client()
    const waitMs = Number.POSITIVE_INFINITY
    const last = OPEN_REQUESTS_MAX + 1
    for (let first = 1; first <= last; first += 1_024) {
      const count = Math.min(1_024, last - first + 1)
      client.say(
        ...Array.from({ length: count }, (_, index) => (writer: PackWriter) => {
          const id = first + index
          const key = keys[id % keys.length] as string
          const acquire = { kind: 'acquire', key, owner: `o${id}`, requestId: '1', waitMs } as const
          writeCommand(writer, acquire, { id, ownSession: '', mayAbort: false })
        }),
      )
    }
    expect((await client.hears('failure', last))[2]).toMatchObject({ code: 'LOCK_LIMIT' })
    expect((await rig.engine.read({ kind: 'stats' })).waiters).toBe(OPEN_REQUESTS_MAX)
  }, 60_000)
})

/** One whose replies have a megabyte: the server has to keep many of them before it is too much. */
async function openWordyEngine(): Promise<LockEngine> {
  const engine = await openTestEngine()
  onTestFinished(() => engine.close())
  const read = async (query: Query): Promise<unknown> => ({
    ...(await engine.read(query)),
    words: Array.from({ length: 16 }, () => 'x'.repeat(64 * 1024)),
  })
  return new Proxy(engine, {
    get: (target, name) => {
      const value: unknown = name === 'read' ? read : Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function isReset(event: unknown): boolean {
  return (event as { kind: string }).kind === 'reset'
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
        return client.hears('outcome', 1)
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

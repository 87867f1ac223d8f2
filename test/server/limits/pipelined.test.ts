import { once } from 'node:events'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type LockRig, openRig, waiters } from '../locks/lock-rig.ts'
import { sendRaw } from './raw-http.ts'
import { SilentSockets } from './silent-sockets.ts'

const GRACE_MS = 5_000
const HOST = 'host: localhost\r\n'
const UPGRADE =
  'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n' +
  'sec-websocket-key: MTIzNDU2Nzg5MDEyMzQ1Ng==\r\n'

let rig: LockRig
let registry: Registry
let sockets: SilentSockets

beforeEach(async () => {
  registry = new Registry()
  rig = await openRig({ sessionGraceMs: GRACE_MS, registry })
  sockets = new SilentSockets(rig.server.address.port)
})

afterEach(async () => {
  sockets.cut()
  await rig.close()
})

const get = (path: string): string => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`

function post(path: string, body: object, headers = ''): string {
  const text = JSON.stringify(body)
  return `POST ${path} HTTP/1.1\r\n${HOST}${headers}content-length: ${text.length}\r\n\r\n${text}`
}

async function gauge(name: string): Promise<number> {
  const { text } = (await rig.call('/metrics')).body
  const line = String(text)
    .split('\n')
    .find((one) => one.startsWith(`${name} `))
  return Number(line?.slice(name.length))
}

describe('streams that are pipelined on one connection', () => {
  it.each([
    '/v1/events',
    '/lock/subscribe?type=pull&resource_id=r',
    '/subscribe?type=pull&resource_id=r',
  ])('are one stream, and none after it is cut: %s', async (path) => {
    const socket = await sockets.open(get(path).repeat(17))
    await expect.poll(() => gauge('holdfast_streams')).toBeGreaterThanOrEqual(1)
    await rig.call('/healthz')
    expect(await gauge('holdfast_streams')).toBe(1)
    socket.destroy()
    await expect.poll(() => gauge('holdfast_streams')).toBe(0)
  })

  it('are cut with their connection where they are a hundred', async () => {
    const socket = await sockets.open(get('/v1/events').repeat(100))
    socket.resume()
    await once(socket, 'end')
    await expect.poll(() => gauge('holdfast_streams')).toBe(0)
  })

  it('keep no hold of their session past its grace', async () => {
    const path = '/v1/events?session=s'
    const socket = await sockets.open(get(path).repeat(10))
    await expect.poll(async () => (await rig.engine.read({ kind: 'stats' })).sessions).toBe(1)
    await rig.acquire('a', { session: 's', ttl_ms: 3_600_000 })
    const timers = rig.clock.pendingTimers
    socket.destroy()
    // The heartbeat of the session has stopped: the server has noticed.
    await expect.poll(() => rig.clock.pendingTimers).toBeLessThan(timers)
    await rig.clock.advance(GRACE_MS)
    expect((await rig.acquire('b')).body).toMatchObject({ outcome: 'granted' })
  })

  it('a request behind a stream is not handled, and the stream says that it is the last', async () => {
    let got = ''
    const socket = await sockets.open(
      get('/v1/events') + post('/v1/acquire', { key: 'k', owner: 'a' }),
    )
    socket.on('data', (bytes: Buffer) => (got += bytes.toString('latin1'))).resume()
    await expect.poll(() => got).toMatch(/connection: close/i)
    await rig.call('/healthz')
    expect((await rig.engine.read({ kind: 'stats' })).holds).toBe(0)
  })
})

describe('requests that are pipelined on one connection', () => {
  it('are answered in their order', async () => {
    const answers = await sendRaw(
      rig.server.address.port,
      post('/v1/acquire', { key: 'k', owner: 'a' }),
      get('/v1/locks/k'),
      post('/v1/release', { key: 'k', owner: 'a' }, 'connection: close\r\n'),
    )
    expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(Array(3).fill('HTTP/1.1 200'))
    expect(answers).toMatch(/"outcome":"granted"[^]*"holders":\[\{"owner":"a"[^]*"released":true/)
  })

  it('are handled one after the other: the second wait begins when the first is over', async () => {
    await rig.acquire('a', { ttl_ms: 3_600_000 })
    const wait = (owner: string): string =>
      post('/v1/acquire', { key: 'k', owner, wait_ms: 1_000, ttl_ms: 1_000 })
    const socket = await sockets.open(wait('b') + wait('c'))
    await expect.poll(() => waiters(rig.engine)).toEqual(['b'])
    await rig.clock.advance(1_000)
    await expect.poll(() => waiters(rig.engine)).toEqual(['c'])
    socket.destroy()
    await expect.poll(() => waiters(rig.engine)).toEqual([])
  })

  it('are not handled behind one that closes the connection', async () => {
    const last = post('/v1/acquire', { key: 'k', owner: 'a' }, 'connection: close\r\n')
    await sendRaw(rig.server.address.port, last, post('/v1/acquire', { key: 'l', owner: 'a' }))
    expect((await rig.engine.read({ kind: 'stats' })).holds).toBe(1)
  })

  it('are so many and no more: one that sends a thousand behind a wait is cut', async () => {
    await rig.acquire('a', { ttl_ms: 3_600_000 })
    const wait = post('/v1/acquire', { key: 'k', owner: 'b', wait_ms: 'forever' })
    await sockets.open(wait + get('/healthz').repeat(1_000))
    await rig.call('/healthz')
    await expect.poll(() => waiters(rig.engine)).toEqual([])
  })

  it('make no session behind a request that was not answered', async () => {
    await rig.acquire('a', { ttl_ms: 3_600_000 })
    const wait = post('/v1/acquire', { key: 'k', owner: 'b', wait_ms: 'forever' })
    const answer = await sendRaw(
      rig.server.address.port,
      wait,
      `GET /v1/session HTTP/1.1\r\n${HOST}${UPGRADE}\r\n`,
    )
    expect(answer).toBe('')
    await expect.poll(() => waiters(rig.engine)).toEqual([])
  })

  it('are not answered with the mistake of a later one', async () => {
    await rig.acquire('a', { ttl_ms: 3_600_000 })
    const wait = post('/v1/acquire', { key: 'k', owner: 'b', wait_ms: 'forever' })
    expect(await sendRaw(rig.server.address.port, wait, 'hello\r\n\r\n')).toBe('')
  })
})

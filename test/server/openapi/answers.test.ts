import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { createError } from '../../../src/engine/errors/errors.ts'
import { type LockRig, openRig } from '../locks/lock-rig.ts'
import { type Served, serve, tokensFor } from '../served.ts'
import { RawClient } from '../sessions/raw-client.ts'
import { openTestEngine } from '../test-engine.ts'
import { ROUTES } from '../../../src/server/routes/routes.ts'
import { assertDescribed, assertEventDescribed, heard } from './described-answers.ts'

/** Every call of the tests checks its answer; here each operation is called for each answer of its own. */
let rig: LockRig

beforeAll(async () => {
  rig = await openRig({ settings: { updateRequiresNoRef: true } })
})

afterAll(() => rig.close())

const call = (path: string, method = 'GET', body?: unknown): ReturnType<Served['call']> =>
  rig.call(path, { method, body })

describe('each of these is answered as it is described', () => {
  it('locks', async () => {
    await rig.acquire('a', { meta: { job: 7 }, request_id: '1' })
    await rig.acquire('b')
    await rig.acquire('b', { wait_ms: 1_000, detach: true })
    await rig.acquire('a', { request_id: '1', mode: 'read' })
    await rig.acquire('c', { session: 'none' })
    await call('/v1/locks')
    await call('/v1/locks/k')
    await call('/v1/locks/k/standing?owner=b')
    const hold = { key: 'k', owner: 'a', ttl_ms: 60_000 }
    await rig.post('/v1/renew', hold)
    await rig.post('/v1/renew', { ...hold, token: 0 })
    await rig.post('/v1/release', { ...hold, request_id: '2' })
    await rig.post('/v1/release', { ...hold, request_id: '2', mode: 'read' })
    await rig.post('/v1/release', hold)
    await rig.post('/v1/cancel', { key: 'k', owner: 'b' })
    await rig.acquire('a', { mode: 'read' })
    await rig.acquire('b', { mode: 'read' })
    const upgrade = await rig.wait('a', { wait_ms: 60_000 })
    await rig.post('/v1/release', { key: 'k', owner: 'a' })
    expect((await upgrade.answer).status).toBe(403)
    await rig.post('/v1/batch', [
      { op: 'acquire', key: 'x', owner: 'a' },
      { op: 'release', key: 'x', owner: 'b' },
      { op: 'release', key: 'x' },
      { op: 'sing' },
      { op: 'begin', type: 'pull', resource: 'x', node: 'n' },
    ])
    await call('/v1/locks/x', 'DELETE', {})
    await call('/v1/history')
    const limited = await serve({ limits: { holds: 0 } })
    expect((await limited.post('/v1/acquire', { key: 'k', owner: 'a' })).status).toBe(429)
    await limited.close()
  })

  it('operations', async () => {
    const node = { type: 'pull', resource_id: 'layer', node_id: 'n' }
    await rig.post('/lock', node)
    await rig.post('/lock', { ...node, node_id: 'm' })
    await rig.post('/lock', { ...node, resource_id: 'other', session: 'none' })
    await call('/lock/status?type=pull&resource_id=layer')
    await rig.post('/lock/status', node)
    await rig.post('/unlock', { ...node, value: { size: 7 } })
    await rig.post('/unlock', node)
    await rig.post('/lock', node)
    await rig.post('/lock', { ...node, type: 'delete' })
    await call('/refs?resource_id=layer')
    await rig.post('/unref', node)
    await rig.post('/unref', { node_id: 'm' })
  })

  it('operations in the words of the law', async () => {
    const node = { type: 'pull', resource: 'blob', node: 'n' }
    await rig.post('/v1/begin', { ...node, version: '1' })
    await rig.post('/v1/begin', { ...node, version: '2' })
    await rig.post('/v1/begin', { ...node, resource: 'other', session: 'none' })
    await rig.post('/v1/begin', { ...node, node: 'm' })
    await rig.post('/v1/withdraw', { ...node, node: 'm' })
    await rig.post('/v1/finish', { ...node, success: true })
    await rig.post('/v1/finish', { ...node, success: true })
    await rig.post('/v1/begin', { ...node, type: 'delete' })
    await call('/v1/references?resource=blob')
    await rig.post('/v1/unref', { resource: 'blob', node: 'n' })
    const limited = await serve({ limits: { holds: 0 } })
    expect((await limited.post('/v1/begin', node)).status).toBe(429)
    await limited.close()
  })

  it('sessions by name, and what is around', async () => {
    const session = '/v1/sessions/s'
    await call(session, 'PUT', { grace_ms: 5_000 })
    await call(session, 'POST', {})
    await call(session, 'DELETE')
    await call(session, 'POST', {})
    await call(session, 'DELETE')
    await call('/v1/sweep', 'POST', {})
    await call('/v1/session')
    for (const path of ['/v1/stats', '/v1/capabilities', '/openapi.json', '/']) await call(path)
    for (const path of ['/healthz', '/readyz', '/metrics']) await call(path)
  })

  it('the session of a WebSocket, to another client', async () => {
    const client = await RawClient.open(rig.server.url)
    const { session } = client
    await call(`/v1/sessions/${session}`, 'PUT', { grace_ms: 5_000 })
    await call(`/v1/events?session=${session}`)
    const subject = `type=pull&resource_id=r&session=${session}`
    for (const path of ['/lock/subscribe', '/subscribe']) await call(`${path}?${subject}`)
    client.cut()
  })

  it('a handshake of a WebSocket', async () => {
    const handshake = async (key: string): Promise<number> => {
      const status = await upgrade(rig.server.address.port, key)
      const body = { error: 'no', code: 'bad_request', field: 'sec-websocket-key' }
      assertDescribed({ method: 'GET', path: '/v1/session', status, body })
      return status
    }
    expect(await handshake('MTIzNDU2Nzg5MDEyMzQ1Ng==')).toBe(101)
    expect(await handshake('none')).toBe(400)
  })

  it('streams, to their events', async () => {
    const paths = ['/lock/subscribe', '/subscribe'].map(
      (path) => `${path}?type=pull&resource_id=streamed&session=s`,
    )
    for (const path of ['/v1/events', ...paths]) {
      const stream = await rig.stream(path)
      assertDescribed({ method: 'GET', path, status: 200, body: '' })
      const node = { type: 'pull', resource_id: 'streamed', node_id: path }
      await rig.post('/lock', node)
      await rig.post('/unlock', { ...node, error: 'disk full' })
      await stream.until(2)
      stream.close()
      const again = await rig.stream(path, { 'last-event-id': 'of-another-life' })
      await again.until(1)
      expect(again.messages.map(({ event }) => event)).toContain('reset')
      again.close()
    }
  })

  it('every answer that an operation has of its own has been heard by now', () => {
    const own = ROUTES.map(({ id, answers }) => [id, Object.keys(answers).map(Number)] as const)
    const missed = own.flatMap(([id, statuses]) =>
      statuses.filter((status) => heard.get(id)?.has(status) !== true).map((one) => [id, one]),
    )
    expect(missed).toEqual([])
  })
})

describe('what any operation can be answered', () => {
  const ACQUIRE = { key: 'k', owner: 'o' }

  it.each([
    ['the request is wrong', 400, {}, async (on: Served) => on.post('/v1/acquire', { key: 7 })],
    [
      'there is no token',
      401,
      { tokens: tokensFor({ name: 'alice' }) },
      async (on: Served) => on.post('/v1/acquire', ACQUIRE),
    ],
    [
      'a page of another site asks',
      403,
      {},
      async (on: Served) =>
        on.call('/v1/acquire', { body: ACQUIRE, headers: { origin: 'http://elsewhere.example' } }),
    ],
    [
      'the body is too long',
      413,
      { limits: { body: 10 } },
      async (on: Served) => on.post('/v1/acquire', ACQUIRE),
    ],
    ['an idempotency key is used again', 422, {}, useKeyTwice],
    [
      'there are too many streams',
      429,
      { limits: { streams: 0 } },
      async (on: Served) => on.call('/v1/events'),
    ],
    [
      'the server has a defect',
      500,
      { engine: new TypeError('a defect') },
      async (on: Served) => on.post('/v1/acquire', ACQUIRE),
    ],
    [
      'the engine cannot work',
      503,
      { engine: createError('LOCK_ENGINE_UNAVAILABLE', 'it is away') },
      async (on: Served) => on.post('/v1/acquire', ACQUIRE),
    ],
    [
      'there are too many connections',
      503,
      { limits: { connections: 0 } },
      async (on: Served) => on.call('/healthz'),
    ],
  ] as const)('because %s: %i', async (...situation: Situation) => {
    const [, status, { engine, ...options }, ask] = situation
    const served = await serve({ ...options, ...(engine && { engine: await failing(engine) }) })
    expect((await ask(served)).status).toBe(status)
    await served.close()
  })

  it('that is not so is noticed', () => {
    const answer = { method: 'POST', path: '/v1/release', status: 200 }
    const body = { outcome: 'released', released: true, reads: 0, writes: 0 }
    expect(() => assertDescribed({ ...answer, body })).not.toThrow()
    expect(() => assertDescribed({ ...answer, body: { ...body, rests: 0 } })).toThrow('rests')
    expect(() => assertDescribed({ ...answer, body: { ...body, reads: '0' } })).toThrow('reads')
    expect(() => assertDescribed({ ...answer, body, status: 418 })).toThrow('418')
    expect(() => assertEventDescribed('/v1/events', { event: 'sung' })).toThrow('event')
  })
})

type Situation = readonly [
  because: string,
  status: number,
  options: {
    readonly engine?: Error
    readonly tokens?: ReturnType<typeof tokensFor>
    readonly limits?: Readonly<Record<string, number>>
  },
  ask: (served: Served) => ReturnType<Served['call']>,
]

async function useKeyTwice(served: Served): ReturnType<Served['call']> {
  const headers = { 'idempotency-key': 'one' }
  await served.call('/v1/release', { body: { key: 'k', owner: 'o' }, headers })
  return served.call('/v1/release', { body: { key: 'other', owner: 'o' }, headers })
}

/** An engine that opens, and then fails every command like this. */
async function failing(error: Error): Promise<LockEngine> {
  const engine = await openTestEngine()
  return new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (name === 'apply') return () => Promise.reject(error)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** The status that a WebSocket is opened with, or not. */
function upgrade(port: number, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      const head = ['GET /v1/session HTTP/1.1', 'host: localhost', 'connection: Upgrade']
      const asked = ['upgrade: websocket', 'sec-websocket-version: 13', `sec-websocket-key: ${key}`]
      socket.write(`${[...head, ...asked].join('\r\n')}\r\n\r\n`)
    })
    socket.on('error', reject)
    socket.once('data', (bytes) => {
      socket.destroy()
      resolve(Number(/^HTTP\/1.1 (\d+)/.exec(bytes.toString())?.[1]))
    })
  })
}

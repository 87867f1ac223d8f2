import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { LockServerOptions } from '../../../src/server/lock-server.ts'
import { DEFAULT_LIMITS, type ServerLimits } from '../../../src/server/server-limits.ts'
import { type Served, serve, tokensFor } from '../served.ts'
import { RawClient } from '../sessions/raw-client.ts'
import { openTestEngine } from '../test-engine.ts'

let served: Served

async function open(limits: Partial<ServerLimits>, more: Partial<LockServerOptions> = {}) {
  served = await serve({ limits, ...more })
}

afterEach(() => served.close())

/** A body of exactly so many bytes. */
function padded(bytes: number, body: unknown): string {
  const text = JSON.stringify(body)
  return text + ' '.repeat(bytes - text.length)
}

describe('body', () => {
  const asked = { key: 'k', owner: 'o' }

  it('may be 16 KiB and no more', async () => {
    await open({})
    expect((await served.post('/v1/acquire', padded(16_384, asked))).status).toBe(200)
    const { status, body } = await served.post('/v1/acquire', padded(16_385, asked))
    expect([status, body['code'], body['limit']]).toEqual([413, 'too_large', 16_384])
  })

  it('is also cut off where its length was not announced', async () => {
    await open({ body: 1024 })
    const response = await fetch(`${served.server.url}/v1/acquire`, {
      method: 'POST',
      duplex: 'half',
      body: new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(padded(1025, asked)))
          controller.close()
        },
      }),
    } as RequestInit)
    expect(response.status).toBe(413)
  })
})

describe('batch-body', () => {
  it('has a limit of its own', async () => {
    await open({ 'batch-body': 2048, body: 1024 })
    const batch = [{ op: 'acquire', key: 'k', owner: 'o' }]
    expect((await served.post('/v1/batch', padded(2048, batch))).status).toBe(200)
    expect((await served.post('/v1/batch', padded(2049, batch))).status).toBe(413)
  })
})

describe('names', () => {
  it.each([
    ['/v1/acquire', { key: 'kkkké', owner: 'o' }, 'key'],
    ['/v1/acquire', { key: 'k', owner: 'oooooo' }, 'owner'],
    ['/v1/release', { key: 'kkkkkk', owner: 'o' }, 'key'],
    ['/v1/renew', { key: 'k', owner: 'oooooo', ttl_ms: 1000 }, 'owner'],
    ['/v1/cancel', { key: 'kkkkkk', owner: 'o' }, 'key'],
    ['/v1/begin', { type: 'pull', resource: 'rrrrrr', node: 'n' }, 'resource'],
    ['/v1/finish', { type: 'pull', resource: 'r', node: 'nnnnnn', success: true }, 'node'],
    ['/v1/unref', { resource: 'rrrrrr', node: 'n' }, 'resource'],
  ])('of more than 5 bytes are refused: %s %j', async (path, asked, field) => {
    await open({ key: 5, owner: 5 })
    const { status, body } = await served.post(path, asked)
    expect([status, body['code'], body['field']]).toEqual([400, 'bad_request', field])
  })

  it('of 5 bytes are accepted', async () => {
    await open({ key: 5, owner: 5 })
    expect((await served.post('/v1/acquire', { key: 'kkké', owner: 'ooooo' })).status).toBe(200)
  })

  it('of an operation are called as its caller calls them', async () => {
    await open({ key: 5, owner: 5 })
    const asked = { type: 'pull', resource_id: 'rrrrrr', node_id: 'n' }
    const { status, body } = await served.post('/lock', asked)
    expect([status, body['field']]).toEqual([400, 'resource_id'])
  })
})

describe('ttl', () => {
  it.each(['/v1/acquire', '/v1/renew'])('above the limit is refused at %s', async (path) => {
    await open({ ttl: 60_000 })
    const asked = { key: 'k', owner: 'o' }
    await served.post('/v1/acquire', asked)
    const { status, body } = await served.post(path, { ...asked, ttl_ms: 60_001 })
    expect([status, body['field']]).toEqual([400, 'ttl_ms'])
    expect((await served.post(path, { ...asked, ttl_ms: 60_000 })).status).toBe(200)
  })
})

describe('wait', () => {
  it('is at most an hour', async () => {
    await open({})
    const asked = { key: 'k', owner: 'o' }
    const { status, body } = await served.post('/v1/acquire', { ...asked, wait_ms: 3_600_001 })
    expect([status, body['field']]).toEqual([400, 'wait_ms'])
    expect((await served.post('/v1/acquire', { ...asked, wait_ms: 3_600_000 })).status).toBe(200)
  })

  it('without a number ends with its connection and needs no limit', async () => {
    await open({ wait: 1 })
    const asked = { key: 'k', owner: 'o', wait_ms: 'forever' }
    expect((await served.post('/v1/acquire', asked)).status).toBe(200)
  })
})

describe('waiters', () => {
  it('of one key are so many and no more', async () => {
    const engine = await openTestEngine({ settings: { waitersPerKeyMax: 2 } })
    await open({ waiters: 2 }, { engine })
    const ask = (owner: string) =>
      served.post('/v1/acquire', { key: 'k', owner, wait_ms: 60_000, detach: true })
    const statuses = []
    for (const owner of ['a', 'b', 'c']) statuses.push((await ask(owner)).status)
    expect(statuses).toEqual([200, 200, 200])
    const { status, body, headers } = await ask('d')
    expect([status, body['code'], headers.get('retry-after')]).toEqual([429, 'limit', '1'])
  })
})

describe('holds', () => {
  const ask = (key: string, more = {}, token?: string) =>
    served.post('/v1/acquire', { key, owner: 'o', ...more }, token)

  it('are counted: one more than the limit is refused, one less makes room', async () => {
    await open({ holds: 2 })
    expect([(await ask('a')).status, (await ask('b')).status]).toEqual([200, 200])
    const { status, body, headers } = await ask('c')
    expect([status, body['code'], headers.get('retry-after')]).toEqual([429, 'limit', '1'])
    await served.post('/v1/release', { key: 'a', owner: 'o' })
    expect((await ask('c')).status).toBe(200)
  })

  it('that are refused are counted, over HTTP and over a session', async () => {
    await open({ holds: 1 })
    await ask('a')
    await ask('b')
    await served.post('/lock', { type: 'pull', resource_id: 'r', node_id: 'n' })
    const held = await client()
    held.ask(1, { kind: 'acquire', key: 'c', owner: 'o', requestId: '1' })
    expect(await held.answer(1)).toMatchObject({ kind: 'refused', code: 'limit' })
    expect(await counted('holdfast_refusals_total{kind="lock",reason="limit"}')).toBe(2)
    expect(await counted('holdfast_refusals_total{kind="operation",reason="limit"}')).toBe(1)
  })

  it('a holder at the limit may take another step of what it holds', async () => {
    await open({ holds: 1 })
    await ask('a', { request_id: '1' })
    expect((await ask('a', { request_id: '2' })).body).toMatchObject({ writes: 2 })
    expect((await ask('a', { request_id: '1' })).status).toBe(200)
  })

  it('steps of one hold are one hold', async () => {
    await open({ holds: 2 })
    await ask('a', { request_id: '1' })
    await ask('a', { request_id: '2' })
    await ask('a', { request_id: '3' })
    expect((await ask('b')).status).toBe(200)
  })

  it('many at once do not slip through together', async () => {
    await open({ holds: 5 })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => ask(`k${index}`)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
    expect((await served.engine.read({ kind: 'stats' })).holds).toBe(5)
  })

  it('what was held before the server started counts', async () => {
    const engine = await openTestEngine()
    await engine.apply({ kind: 'acquire', key: 'old', owner: 'o', requestId: '1' })
    await open({ holds: 1 }, { engine })
    expect((await ask('new')).status).toBe(429)
  })

  it('many at once do not slip through a count that was too high', async () => {
    const engine = await openTestEngine()
    const acquire = { kind: 'acquire', owner: 'o' } as const
    for (const key of ['a', 'b', 'c']) await engine.apply({ ...acquire, key, requestId: '1' })
    await engine.apply({ ...acquire, key: 'd', requestId: '1' })
    await open({ holds: 4 }, { engine, tokens: tokensFor({ name: 'alice' }) })
    const asked = Array.from({ length: 20 }, (_, index) => ask(`k${index}`, {}, 'alice-token'))
    expect((await Promise.all(asked)).filter(({ status }) => status === 200)).toHaveLength(4)
  })

  it('of one principal are not those of another', async () => {
    await open({ holds: 1 }, { tokens: tokensFor({ name: 'alice' }, { name: 'bob' }) })
    expect((await ask('a', {}, 'alice-token')).status).toBe(200)
    expect((await ask('b', {}, 'alice-token')).status).toBe(429)
    expect((await ask('b', {}, 'bob-token')).status).toBe(200)
  })

  it('operations count too', async () => {
    await open({ holds: 1 })
    const pull = (id: string) =>
      served.post('/lock', { type: 'pull', resource_id: id, node_id: 'n' })
    expect((await pull('a')).body).toMatchObject({ acquired: true })
    const { status, body } = await pull('b')
    expect([status, body['code']]).toEqual([429, 'limit'])
  })
})

describe('streams', () => {
  it('are so many for each principal', async () => {
    await open({ streams: 1 })
    const over = new AbortController()
    const first = await fetch(`${served.server.url}/v1/events`, { signal: over.signal })
    expect(first.status).toBe(200)
    const { status, body, headers } = await served.call('/v1/events')
    expect([status, body['code'], headers.get('retry-after')]).toEqual([429, 'limit', '1'])
    const operations = '/lock/subscribe?type=pull&resource_id=r'
    expect((await served.call(operations)).status).toBe(429)
    over.abort()
  })

  it('and watches of sessions are counted together, however they end', async () => {
    await open({ streams: 3 })
    const one = await client()
    const other = await client()
    const watch = (of: RawClient, id: number) =>
      of.say([id, { kind: 'watch', watch: id, prefix: 'p' }])
    for (const id of [1, 2]) watch(one, id)
    await one.answer(2)
    watch(other, 1)
    await other.answer(1)
    watch(one, 3)
    expect(await one.answer(3)).toMatchObject({ code: 'LOCK_LIMIT', details: { limit: 3 } })
    expect((await served.call('/v1/events')).status).toBe(429)
    expect(await counted('holdfast_streams')).toBe(3)
    expect(await counted('holdfast_refusals_total{kind="session",reason="limit"}')).toBe(1)
    one.say([4, { kind: 'unwatch', watch: 1 }])
    await one.answer(4)
    watch(one, 5)
    await one.answer(5)
    one.goodbye()
    await one.closed
    await expect.poll(() => counted('holdfast_streams')).toBe(1)
  })

  it('that the engine does not open are not counted', async () => {
    await open({ streams: 1 }, { tokens: tokensFor({ name: 'alice', prefixes: ['a/'] }) })
    const alice = await client('alice-token')
    alice.say([1, { kind: 'watch', watch: 1, prefix: 'b/' }])
    expect(await alice.answer(1)).toMatchObject({ code: 'LOCK_FORBIDDEN' })
    alice.say([2, { kind: 'watch', watch: 2, prefix: 'a/' }])
    await alice.answer(2)
  })
})

describe('connections', () => {
  it('above the limit are told to come back', async () => {
    await open({ connections: 1 })
    const over = new AbortController()
    await fetch(`${served.server.url}/v1/events`, { signal: over.signal })
    const { status, body, headers } = await served.call('/healthz')
    expect([status, body['code'], headers.get('retry-after')]).toEqual([503, 'limit', '1'])
    expect(headers.get('connection')).toBe('close')
    over.abort()
    await expect.poll(async () => (await served.call('/healthz')).status).toBe(200)
  })

  it('above the limit are counted, also those that are too many to be answered', async () => {
    await open({ connections: 1 })
    const { port } = served.server.address
    const sockets = Array.from({ length: 300 }, () => connect({ port, host: '127.0.0.1' }))
    let closed = 0
    for (const socket of sockets) {
      socket.on('error', () => {})
      socket.on('close', () => {
        closed += 1
      })
    }
    await expect.poll(() => closed).toBe(300 - 1 - 256)
    for (const socket of sockets) socket.destroy()
    const refused = 'holdfast_http_connections_refused_total'
    await expect.poll(() => counted(refused)).toBeGreaterThanOrEqual(299)
  })

  it('above the limit are opened no session on', async () => {
    await open({ connections: 1 })
    const first = await client()
    const refused = new RawClient(served.server.url)
    const [, response] = (await once(refused.socket, 'unexpected-response')) as [
      unknown,
      IncomingMessage,
    ]
    expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '1'])
    expect(await json(response)).toMatchObject({ code: 'limit', retryable: true })
    first.cut()
    await expect.poll(() => counted('holdfast_sessions_opened_total')).toBe(1)
  })
})

describe('unsent', () => {
  it('cuts a session whose client leaves more than that unread', async () => {
    await open({ unsent: MIB / 4 })
    await fillQueue()
    const [lazy, other] = [await client(), await client()]
    readMuch(lazy)
    await expect.poll(() => isCut(lazy)).toBe(true)
    other.read(1, { kind: 'stats' })
    expect(await other.answer(1)).toMatchObject({ kind: 'reply' })
    expect(await counted('holdfast_limit{limit="unsent"}')).toBe(MIB / 4)
  })
})

describe('unsent-total', () => {
  it('cuts those that are furthest behind, and no others', async () => {
    await open({ 'unsent-total': MIB / 4 })
    await fillQueue()
    const reader = await client()
    const lazy = await Promise.all(Array.from({ length: 10 }, () => client()))
    for (const one of lazy) readMuch(one)
    await expect.poll(() => counted('holdfast_connections_cut_total')).toBeGreaterThan(0)
    expect(await counted('holdfast_unsent_bytes')).toBeLessThan(10 * MIB)
    reader.read(1, { kind: 'stats' })
    expect(await reader.answer(1)).toMatchObject({ kind: 'reply' })
    await expect.poll(() => lazy.some(isCut)).toBe(true)
  })
})

const MIB = 1024 * 1024
const WAITERS = 1_000

/** A key whose inspection has a third of a megabyte. */
async function fillQueue(): Promise<void> {
  const { engine } = served
  for (let index = 0; index < WAITERS; index += 1) {
    const owner = `${index}-${'o'.repeat(240)}`
    const asked = { kind: 'acquire', key: 'k', owner, requestId: '1', waitMs: 60_000 } as const
    await engine.apply({ ...asked, detach: true })
  }
}

/** As many replies as the server makes at once, of which none is read. */
function readMuch(lazy: RawClient): void {
  const query = { kind: 'inspect', key: 'k', queueLimit: WAITERS } as const
  lazy.socket.pause()
  const ids = Array.from({ length: 200 }, (_, id) => id)
  lazy.say(...ids.map((id) => [id, { kind: 'read', query }] as const))
}

/** A client that does not read notices nothing until it sends something. */
function isCut({ socket }: RawClient): boolean {
  if (socket.readyState === socket.OPEN) socket.ping()
  return socket.readyState === socket.CLOSED
}

async function client(token?: string): Promise<RawClient> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const opened = await RawClient.open(served.server.url, {}, headers)
  onTestFinished(() => opened.cut())
  return opened
}

/** One number of the metrics. */
async function counted(name: string): Promise<number> {
  const { text } = (await served.call('/metrics')).body
  const line = String(text)
    .split('\n')
    .find((one) => one.startsWith(`${name} `))
  return Number(line?.slice(name.length))
}

it('every limit has a test here', async () => {
  await open({})
  const text = readFileSync(import.meta.filename, 'utf8')
  const untested = Object.keys(DEFAULT_LIMITS).filter(
    (name) => !new RegExp(`open\\(\\{[^}]*\\b${name}'?:`).test(text),
  )
  expect(untested).toEqual([])
})

import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PATIENCE } from '../../../src/server/server-limits.ts'
import { type Served, serve } from '../served.ts'
import { sendRaw, statusOf } from './raw-http.ts'

let served: Served

/** Short, because tests wait for it; and longer than any request that is sent in one piece takes. */
const REQUEST_MS = 2_500

const UPGRADE =
  'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n' +
  'sec-websocket-key: MTIzNDU2Nzg5MDEyMzQ1Ng==\r\n'

beforeEach(async () => {
  served = await serve({
    patience: { ...PATIENCE, headersMs: 2_000, requestMs: REQUEST_MS, checkMs: 50 },
  })
})

afterEach(() => served.close())

const send = (...chunks: readonly string[]): Promise<string> =>
  sendRaw(served.server.address.port, ...chunks)

describe('requests that two readers could read differently', () => {
  const head = 'POST /v1/acquire HTTP/1.1\r\nhost: localhost\r\n'

  it.each([
    ['two lengths', `${head}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`],
    ['the same length twice', `${head}content-length: 2\r\ncontent-length: 2\r\n\r\n{}`],
    [
      'a length and chunks',
      `${head}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    ],
    ['chunks that are no last coding', `${head}transfer-encoding: chunked, gzip\r\n\r\n{}`],
    ['a length that is no number', `${head}content-length: 2x\r\n\r\n{}`],
    ['a space before the colon', `${head}content-length : 2\r\n\r\n{}`],
    ['a header that is folded', `${head}x: a\r\n b\r\ncontent-length: 2\r\n\r\n{}`],
    [
      'two hosts',
      `${head}Host: example.org\r\ncontent-length: 23\r\n\r\n${'{"key":"k","owner":"o"}'}`,
    ],
    ['the same host twice', `GET /healthz HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n\r\n`],
    [
      'two hosts in an upgrade',
      `GET /v1/session HTTP/1.1\r\nhost: localhost\r\nhost: a\r\n${UPGRADE}\r\n`,
    ],
    ['no host', 'POST /v1/acquire HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}'],
    ['no HTTP', 'hello\r\n\r\n'],
    ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001'],
    ['too many bytes of headers', `${head}x: ${'x'.repeat(20_000)}\r\n\r\n`],
  ])('are refused: %s', async (_, request) => {
    const answer = await send(request)
    expect([400, 431]).toContain(statusOf(answer))
    expect(answer).not.toMatch(/at .*\.(?:ts|js)/)
    expect((await served.engine.read({ kind: 'stats' })).holds).toBe(0)
  })

  it('are refused without a body where only the head of the answer was asked for', async () => {
    const request = `HEAD / HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`
    const answer = await send(request)
    expect(statusOf(answer)).toBe(431)
    expect(answer).toMatch(/\r\n\r\n$/)
  })
})

describe('slow clients', () => {
  it('headers that do not end are cut off', async () => {
    expect(statusOf(await send('GET /v1/locks HTTP/1.1\r\nhost: localhost\r\n'))).toBe(408)
  })

  it('a body that does not end is cut off', async () => {
    const head = 'POST /v1/acquire HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n'
    expect(statusOf(await send(head, '{"key":'))).toBe(408)
  })

  it('a connection on which nothing is said is cut off', async () => {
    await send()
  })

  it('a stream is not a slow client', async () => {
    const { port } = served.server.address
    const socket = connect({ port, host: '127.0.0.1' })
    let got = ''
    socket.setEncoding('utf8').on('data', (text: string) => {
      got += text
    })
    socket.write('GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n')
    const sinceMs = performance.now()
    const countComments = (): number => got.split(': \n').length - 1
    await expect.poll(() => performance.now() - sinceMs > 1.2 * REQUEST_MS).toBe(true)
    const comments = countComments()
    await expect.poll(countComments).toBeGreaterThan(comments)
    expect(socket.closed).toBe(false)
    socket.destroy()
  })

  it('a wait is not a slow client', async () => {
    await served.post('/v1/acquire', { key: 'k', owner: 'a' })
    const asked = { key: 'k', owner: 'b', wait_ms: 1.2 * REQUEST_MS }
    expect((await served.post('/v1/acquire', asked)).body).toMatchObject({ code: 'timeout' })
  })
})

describe('bodies', () => {
  it.each([
    ['lists', '['.repeat(8_000)],
    ['lists that end', '['.repeat(4_000) + ']'.repeat(4_000)],
    ['objects', '{"a":'.repeat(2_000) + '1' + '}'.repeat(2_000)],
    ['a member', `{"key":"k","owner":"o","meta":${'{"a":'.repeat(70)}1${'}'.repeat(70)}}`],
  ])('that are too deep are refused: %s', async (_, body) => {
    const { status, body: answer } = await served.post('/v1/acquire', body)
    expect([status, answer['code']]).toEqual([400, 'bad_request'])
  })

  it('brackets in a text are no depth', async () => {
    const asked = { key: 'k', owner: 'o', meta: { note: `"\\${'['.repeat(200)}` } }
    expect((await served.post('/v1/acquire', asked)).status).toBe(200)
  })

  it.each([
    ['not JSON', 'key=k'],
    ['not UTF-8', '{"key":"\u00ff"}'],
    ['a list', '[]'],
    ['a number', '1'],
    ['null', 'null'],
  ])('that are %s are refused', async (_, body) => {
    const bytes = Buffer.from(body, 'latin1')
    const response = await fetch(`${served.server.url}/v1/acquire`, { method: 'POST', body: bytes })
    expect(response.status).toBe(400)
  })

  it('a member called __proto__ is a name like any other and changes nothing', async () => {
    const meta = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'
    const body = `{"__proto__":{"polluted":true},"key":"__proto__","owner":"__proto__","meta":${meta}}`
    expect((await served.post('/v1/acquire', body)).status).toBe(200)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    const { body: shown } = await served.call('/v1/locks/__proto__')
    expect(JSON.stringify((shown['holders'] as { meta: unknown }[])[0]?.meta)).toBe(meta)
    const alone = '{"__proto__":{"key":"k","owner":"o"}}'
    expect((await served.post('/v1/acquire', alone)).body).toMatchObject({ field: 'key' })
  })
})

it('an offer to go on in HTTP/2 is not taken up, and the request is answered', async () => {
  const offer =
    'connection: upgrade, http2-settings, close\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n'
  const body = '{"key":"k","owner":"o"}'
  const post = `POST /v1/acquire HTTP/1.1\r\nhost: localhost\r\n${offer}content-length: ${body.length}\r\n\r\n${body}`
  expect(await send(post)).toMatch(/^HTTP\/1\.1 200 [^]*"outcome":"granted"/)
  const get = `GET /v1/locks HTTP/1.1\r\nhost: localhost\r\n${offer}\r\n`
  expect(statusOf(await send(get))).toBe(200)
})

it('connections stay open for longer than clients keep them', async () => {
  await served.close()
  served = await serve()
  const { headers } = await served.call('/healthz')
  expect(Number(/timeout=(\d+)/.exec(headers.get('keep-alive') ?? '')?.[1])).toBeGreaterThan(90)
})

import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isLoopback } from '../../../src/server/access/loopback.ts'
import { type Served, serve, tokensFor } from '../served.ts'

let served: Served

const PATHS: Readonly<Record<string, string>> = { GET: '/v1/locks', POST: '/v1/sweep' }

/** `fetch` does not let a program choose these headers. */
function ask(
  method: string,
  headers: Readonly<Record<string, string>>,
  path = PATHS[method],
): Promise<number> {
  const { port } = served.server.address
  return new Promise((resolve, reject) => {
    const sent = request(
      { port, host: '127.0.0.1', method, path, headers, agent: false },
      (got) => {
        if (got.headers['content-type']?.startsWith('text/event-stream') === true) got.destroy()
        else got.resume()
        resolve(got.statusCode ?? 0)
      },
    )
    sent.on('error', reject)
    sent.end()
  })
}

describe('a server that only this machine can reach', () => {
  beforeEach(async () => {
    served = await serve()
  })
  afterEach(() => served.close())

  it.each(['localhost', 'LOCALHOST:8086', '127.0.0.1:1', '127.1.2.3', '[::1]:80'])(
    'answers to %s',
    async (host) => {
      expect(await ask('GET', { host })).toBe(200)
    },
  )

  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.1'])(
    'does not answer to the name %j, which somebody else has pointed here',
    async (host) => {
      expect(await ask('GET', { host })).toBe(403)
    },
  )

  it.each([
    [{ origin: 'http://evil.example' }],
    [{ origin: 'null' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
  ])('is not changed by a page of another site: %j', async (headers) => {
    expect(await ask('POST', { host: '127.0.0.1', ...headers })).toBe(403)
  })

  it.each([
    '/lock/subscribe?type=pull&resource_id=r&node_id=n&session=s',
    '/subscribe?type=pull&resource_id=r',
    '/v1/events?session=s',
  ])(
    'opens no stream, which may keep a place and a session, for a page of another site: %s',
    async (path) => {
      for (const headers of [
        { origin: 'http://evil.example' },
        { 'sec-fetch-site': 'cross-site' },
      ]) {
        expect(await ask('GET', { host: '127.0.0.1', ...headers }, path)).toBe(403)
      }
      expect((await served.engine.read({ kind: 'stats' })).sessions).toBe(0)
      expect(await ask('GET', { host: '127.0.0.1', 'sec-fetch-site': 'same-origin' }, path)).toBe(
        200,
      )
    },
  )

  it.each([
    [{ origin: 'http://127.0.0.1:8086', host: '127.0.0.1:8086' }],
    [{ 'sec-fetch-site': 'same-origin' }],
    [{}],
  ])('hears its own pages, and programs: %j', async (headers) => {
    expect(await ask('POST', { host: '127.0.0.1', ...headers })).toBe(200)
  })

  it('allows no page of another site to read', async () => {
    const { headers } = await served.call('/v1/locks', {
      headers: { origin: 'http://evil.example' },
    })
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })
})

it('with auth on the name does not matter, the token does', async () => {
  served = await serve({ tokens: tokensFor({ name: 'alice' }) })
  const authorization = 'Bearer alice-token'
  expect(await ask('GET', { host: 'locks.example', authorization })).toBe(200)
  await served.close()
})

describe('listening beyond this machine', () => {
  it.each(['0.0.0.0', '::', '192.0.2.1'])('without auth is refused on %s', async (host) => {
    await expect(serve({ host })).rejects.toThrow(/insecure/)
  })

  it('is allowed with tokens', async () => {
    served = await serve({ host: '0.0.0.0', tokens: tokensFor({ name: 'alice' }) })
    await served.close()
  })

  it('is allowed when told so', async () => {
    served = await serve({ host: '0.0.0.0', insecure: true })
    await served.close()
  })

  it.each([
    ['127.0.0.1', true],
    ['127.255.0.9', true],
    ['::1', true],
    ['[::1]', true],
    ['localhost', true],
    ['LOCALHOST', true],
    ['0.0.0.0', false],
    ['::', false],
    ['', false],
    ['example.org', false],
    ['128.0.0.1', false],
    ['127.0.0.1.evil.example', false],
    ['127.0.0.256', false],
  ])('%j is this machine only: %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected)
  })
})

import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { parseTokenFile } from '../../../src/server/access/token-file.ts'
import { type Served, serve, sha256, tokensFor } from '../served.ts'

let served: Served | undefined

afterEach(() => served?.close())

describe('a request without a known token', () => {
  it.each([
    ['nothing', {}],
    ['another scheme', { authorization: `Basic ${btoa('alice:alice-token')}` }],
    ['no token', { authorization: 'Bearer ' }],
    ['an unknown token', { authorization: 'Bearer nobody' }],
    ['the hash instead of the token', { authorization: `Bearer ${sha256('alice-token')}` }],
    ['a token with more behind it', { authorization: 'Bearer alice-token x' }],
  ])('is told to bring one: %s', async (_, headers) => {
    served = await serve({ tokens: tokensFor({ name: 'alice' }) })
    const { status, headers: answered, body } = await served.call('/v1/locks', { headers })
    expect([status, body['code']]).toEqual([401, 'unauthorized'])
    expect(answered.get('www-authenticate')).toMatch(/^Bearer/)
    expect(JSON.stringify(body)).not.toContain('nobody')
  })

  it.each(['/healthz', '/readyz', '/openapi.json'])('may look at %s', async (path) => {
    served = await serve({ tokens: tokensFor({ name: 'alice' }) })
    expect((await served.call(path)).status).toBe(200)
  })

  it.each(['/', '/metrics', '/v1/locks', '/v1/events'])('may not look at %s', async (path) => {
    served = await serve({ tokens: tokensFor({ name: 'alice' }) })
    expect((await served.call(path)).status).toBe(401)
  })
})

describe('a session', () => {
  const open = (headers: Readonly<Record<string, string>>): Promise<number> => {
    const url = `${served?.server.url.replace('http', 'ws')}/v1/session`
    const socket = new WebSocket(url, { headers })
    return new Promise((resolve) => {
      socket.on('open', () => {
        socket.terminate()
        resolve(101)
      })
      socket.on('unexpected-response', (_, answer) => {
        resolve(answer.statusCode ?? 0)
        socket.terminate()
      })
      socket.on('error', () => {})
    })
  }

  it('needs a token like any request', async () => {
    served = await serve({ tokens: tokensFor({ name: 'alice' }) })
    expect(await open({})).toBe(401)
    expect(await open({ authorization: 'Bearer nobody' })).toBe(401)
    expect(await open({ authorization: 'Bearer alice-token' })).toBe(101)
    const { text } = (await served.call('/metrics', { token: 'alice-token' })).body
    expect(text).toContain('holdfast_http_requests_total{route="GET /v1/session",status="401"} 2\n')
  })

  it('is not opened by a page of another site', async () => {
    served = await serve()
    expect(await open({ origin: 'http://evil.example' })).toBe(403)
    expect(await open({ host: 'evil.example' })).toBe(403)
    expect(await open({})).toBe(101)
  })
})

it('a token that was taken away is refused from then on, and a new one works', async () => {
  served = await serve({ tokens: tokensFor({ name: 'alice' }) })
  await served.post('/v1/acquire', { key: 'k', owner: 'o' }, 'alice-token')
  served.server.replaceTokens(
    parseTokenFile(
      't',
      `[[tokens]]\nname = "alice"\nrole = "client"\nsha256 = ["${sha256('new')}", "${sha256('newer')}"]`,
    ),
  )
  expect((await served.call('/v1/locks', { token: 'alice-token' })).status).toBe(401)
  for (const token of ['new', 'newer']) {
    const { body } = await served.call('/v1/locks/k', { token })
    expect(body['holders']).toMatchObject([{ owner: 'o' }])
  }
})

describe('a tokens file', () => {
  const entry = { name: 'alice', role: 'client', sha256: sha256('a') }
  const parse = (...tokens: unknown[]) => parseTokenFile('tokens.json', JSON.stringify({ tokens }))

  it('may be TOML or JSON', () => {
    const toml = `
      [[tokens]]
      name = "alice"
      role = "client"
      prefixes = ["orders/"]
      sha256 = "${sha256('a')}"
    `
    const [read] = parseTokenFile('tokens.toml', toml)
    expect(read?.principal).toEqual({ name: 'alice', role: 'client', prefixes: ['orders/'] })
    expect(parse({ ...entry, prefixes: ['orders/'] })).toEqual([read])
  })

  it.each([
    ['no entries', [], /at least one/],
    ['no table', ['x'], /entry 1: it is not a table/],
    ['no name', [{ ...entry, name: undefined }], /entry 1: name/],
    ['a name with a slash', [{ ...entry, name: 'a/b' }], /entry 1: name/],
    ['another role', [{ ...entry, role: 'root' }], /entry 1: role/],
    ['a token instead of its hash', [{ ...entry, sha256: 'secret' }], /entry 1: sha256/],
    ['no hash', [{ ...entry, sha256: [] }], /entry 1: sha256/],
    ['no prefix in the list', [{ ...entry, prefixes: [] }], /entry 1: prefixes/],
    ['a prefix that others begin with', [{ ...entry, prefixes: ['team1'] }], /separator/],
    ['an empty prefix', [{ ...entry, prefixes: [''] }], /separator/],
    ['a misspelt member', [{ ...entry, prefix: ['a/'] }], /there is no member "prefix"/],
    ['a name twice', [entry, entry], /alice stands there twice/],
  ])('is refused with %s', (_, tokens, message) => {
    expect(() => parse(...tokens)).toThrow(message)
  })

  it('a complaint does not repeat what might be a secret', () => {
    expect(() => parse({ ...entry, sha256: 'hunter2' })).toThrow(/^(?!.*hunter2)/)
    expect(() => parseTokenFile('f', '{"sha256": hunter2')).toThrow(/^(?!.*hunter2)/)
    expect(() => parseTokenFile('f', 'sha256 = hunter2')).toThrow(/^(?!.*hunter2)/)
  })
})

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AuditEntry } from '../../../src/server/observe/audit-log.ts'
import { narrow } from '../../../src/server/access/list-by-rights.ts'
import { type Served, serve, tokensFor } from '../served.ts'

const TEAM = 'team-token'
const ALL = 'all-token'
const OPS = 'ops-token'
const AUDITOR = 'auditor-token'

let served: Served
let audited: AuditEntry[]

beforeEach(async () => {
  audited = []
  served = await serve({
    tokens: tokensFor(
      { name: 'team', prefixes: ['team1/', 'shared:'] },
      { name: 'all' },
      { name: 'ops', role: 'admin' },
      { name: 'auditor', role: 'admin', prefixes: ['team1/'] },
    ),
    audit: (entry) => audited.push(entry),
  })
})

afterEach(() => served.close())

describe('a token with prefixes', () => {
  it.each([
    ['team1/a', 200],
    ['shared:x', 200],
    ['team1', 403],
    ['team10/a', 403],
    ['Team1/a', 403],
    ['other', 403],
  ])('acquires %s: %i', async (key, status) => {
    expect((await served.post('/v1/acquire', { key, owner: 'o' }, TEAM)).status).toBe(status)
  })

  it.each([
    ['/v1/release', { key: 'x', owner: 'o' }],
    ['/v1/renew', { key: 'x', owner: 'o', ttl_ms: 1000 }],
    ['/v1/cancel', { key: 'x', owner: 'o' }],
    ['/v1/begin', { type: 'pull', resource: 'x', node: 'n' }],
    ['/v1/finish', { type: 'pull', resource: 'x', node: 'n', success: true }],
    ['/v1/withdraw', { type: 'pull', resource: 'x', node: 'n' }],
    ['/v1/unref', { resource: 'x', node: 'n' }],
    ['/lock', { type: 'pull', resource_id: 'x', node_id: 'n' }],
    ['/unlock', { type: 'pull', resource_id: 'x', node_id: 'n' }],
    ['/lock/status', { type: 'pull', resource_id: 'x', node_id: 'n' }],
    ['/unref', { resource_id: 'x', node_id: 'n' }],
  ])('has no right to other keys at POST %s', async (path, body) => {
    const { status, body: answer } = await served.post(path, body, TEAM)
    expect([status, answer['code']]).toEqual([403, 'forbidden'])
  })

  it.each([
    '/v1/locks/x',
    '/v1/locks/x/standing?owner=o',
    '/v1/references?resource=x',
    '/v1/history?key=x',
    '/lock/status?type=pull&resource_id=x',
    '/refs?resource_id=x',
    '/lock/subscribe?type=pull&resource_id=x',
    '/v1/events?prefix=other/',
  ])('has no right to read other keys at GET %s', async (path) => {
    const signal = AbortSignal.timeout(5_000)
    const { status, body } = await served.call(path, { token: TEAM, signal })
    expect([status, body['code']]).toEqual([403, 'forbidden'])
  })

  it('may drop all references of its own node', async () => {
    expect((await served.post('/unref', { node_id: 'n' }, TEAM)).status).toBe(200)
  })

  it('a batch is answered one by one', async () => {
    const { body } = await served.post(
      '/v1/batch',
      ['team1/a', 'other'].map((key) => ({ op: 'acquire', key, owner: 'o' })),
      TEAM,
    )
    expect((body as unknown as { status: number }[]).map(({ status }) => status)).toEqual([
      200, 403,
    ])
  })

  it('lists its own keys, page by page, and no cursor names another', async () => {
    const keys = ['aaa', 'shared:1', 'shared:2', 'team0', 'team1/1', 'team1/2', 'team1/3', 'zzz']
    for (const key of keys) await served.post('/v1/acquire', { key, owner: 'o' }, ALL)
    const found: string[] = []
    const cursors: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const { body } = await served.call(`/v1/locks?limit=2${query}`, { token: TEAM })
      found.push(...(body['locks'] as { key: string }[]).map(({ key }) => key))
      cursor = body['cursor'] as string | null
      if (cursor !== null) cursors.push(cursor)
    }
    expect(found).toEqual(['shared:1', 'shared:2', 'team1/1', 'team1/2', 'team1/3'])
    expect(cursors.length).toBeGreaterThan(1)
    expect(cursors.join()).not.toMatch(/aaa|team0|zzz/)
  })

  it('a list of a prefix outside its rights is empty', async () => {
    await served.post('/v1/acquire', { key: 'other/1', owner: 'o' }, ALL)
    const { body } = await served.call('/v1/locks?prefix=other/', { token: TEAM })
    expect(body).toEqual({ locks: [], cursor: null })
  })

  it('a cursor that is none of its list is a bad request', async () => {
    const { status, body } = await served.call('/v1/locks?cursor=zzz', { token: TEAM })
    expect([status, body['field']]).toEqual([400, 'cursor'])
  })

  it('history of all keys is that of its own', async () => {
    for (const key of ['team1/1', 'other']) {
      await served.post('/v1/acquire', { key, owner: 'o' }, ALL)
      await served.post('/v1/release', { key, owner: 'o' }, ALL)
    }
    const { body } = await served.call('/v1/history', { token: TEAM })
    expect(body['history']).toMatchObject([{ key: 'team1/1', owner: 'all/o' }])
  })

  it('hears of its own keys only, and by the names that it knows', async () => {
    const response = await fetch(`${served.server.url}/v1/events`, {
      headers: { authorization: `Bearer ${TEAM}` },
    })
    expect(response.status).toBe(200)
    await served.post('/v1/acquire', { key: 'other', owner: 'o' }, ALL)
    await served.post('/v1/acquire', { key: 'team1/a', owner: 'o' }, ALL)
    await served.post('/v1/acquire', { key: 'shared:a', owner: 'mine' }, TEAM)
    const text = await readUntil(response, 'shared:a')
    const owners = [...text.matchAll(/"owner":"([^"]*)"/g)].map(([, owner]) => owner)
    expect(owners).toEqual(['all/o', 'mine'])
    expect(text).not.toContain('other')
  })
})

describe('the right of an admin', () => {
  it.each([
    ['DELETE', '/v1/locks/team1%2Fa'],
    ['POST', '/v1/sweep'],
  ])('is needed for %s %s', async (method, path) => {
    const body = method === 'POST' ? {} : undefined
    expect((await served.call(path, { method, token: TEAM, body })).body).toMatchObject({
      code: 'forbidden',
    })
    expect((await served.call(path, { method, token: OPS, body })).status).toBe(200)
  })

  it('ends at the prefixes of its token', async () => {
    const end = (key: string) =>
      served.call(`/v1/locks/${key}`, { method: 'DELETE', token: AUDITOR })
    expect((await end('team1%2Fa')).status).toBe(200)
    expect((await end('other')).status).toBe(403)
  })

  it('a forced release is audited with who did it', async () => {
    await served.post('/v1/acquire', { key: 'team1/a', owner: 'o' }, TEAM)
    await served.call('/v1/locks/team1%2Fa', { method: 'DELETE', token: OPS })
    expect(audited).toMatchObject([{ action: 'force', principal: 'ops', key: 'team1/a', count: 1 }])
  })
})

it.each([
  [['a/'], '', ['a/']],
  [['a/'], 'a/b', ['a/b']],
  [['a/', 'b/'], 'a', ['a/']],
  [['b/', 'a/', 'a/x/'], '', ['a/', 'b/']],
  [['a/'], 'b', []],
])('of the rights %j the prefix %j leaves %j', (rights, wanted, left) => {
  expect(narrow(rights, wanted)).toEqual(left)
})

/** What a stream sent, up to the event that has a text in it. */
async function readUntil(response: Response, text: string): Promise<string> {
  const decoder = new TextDecoder()
  let seen = ''
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  while (!seen.includes(text)) {
    const { value, done } = await reader.read()
    if (done) break
    seen += decoder.decode(value, { stream: true })
  }
  await reader.cancel()
  return seen
}

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type LockRig, openRig } from './lock-rig.ts'

let rig: LockRig

beforeEach(async () => {
  rig = await openRig()
})

afterEach(() => rig.close())

const WRONG: readonly (readonly [field: string, path: string, body: unknown])[] = [
  ['key', '/v1/acquire', { owner: 'a' }],
  ['key', '/v1/acquire', { key: '', owner: 'a' }],
  ['key', '/v1/acquire', { key: 7, owner: 'a' }],
  ['key', '/v1/acquire', { key: 'a\u0000b', owner: 'a' }],
  ['owner', '/v1/acquire', { key: 'k', owner: null }],
  ['mode', '/v1/acquire', { key: 'k', owner: 'a', mode: 'exclusive' }],
  ['ttl_ms', '/v1/acquire', { key: 'k', owner: 'a', ttl_ms: '30000' }],
  ['ttl_ms', '/v1/acquire', { key: 'k', owner: 'a', ttl_ms: 99 }],
  ['ttl_ms', '/v1/acquire', { key: 'k', owner: 'a', ttl_ms: 1.5 }],
  ['wait_ms', '/v1/acquire', { key: 'k', owner: 'a', wait_ms: 'never' }],
  ['wait_ms', '/v1/acquire', { key: 'k', owner: 'a', wait_ms: -1 }],
  ['detach', '/v1/acquire', { key: 'k', owner: 'a', detach: true }],
  ['meta', '/v1/acquire', { key: 'k', owner: 'a', meta: 'text' }],
  ['token', '/v1/release', { key: 'k', owner: 'a', token: '1' }],
  ['ttl_ms', '/v1/renew', { key: 'k', owner: 'a' }],
  ['success', '/v1/finish', { type: 'pull', resource: 'r', node: 'n' }],
  ['type', '/v1/begin', { type: 'a b', resource: 'r', node: 'n' }],
  ['body', '/v1/acquire', [1]],
  ['body', '/v1/batch', { op: 'acquire' }],
]

describe('a request', () => {
  for (const [field, path, body] of WRONG) {
    it(`to ${path} with ${JSON.stringify(body)} is told that ${field} is wrong`, async () => {
      const answer = await rig.post(path, body)
      expect([answer.status, answer.body['code'], answer.body['field']]).toEqual([
        400,
        'bad_request',
        field,
      ])
      expect(answer.body['outcome']).toBeUndefined()
    })
  }

  it.each([
    ['/v1/acquire', { ttl_ms: 99 }, 'ttl_ms must be from 100 to 86400000'],
    ['/v1/acquire', { ttl_ms: 150.5 }, 'ttl_ms must be a whole number'],
    ['/v1/acquire', { wait_ms: -1 }, 'wait_ms must be from 0 to 3600000'],
    ['/v1/acquire', { wait_ms: 3_600_001 }, 'wait_ms must be from 0 to 3600000'],
    ['/v1/acquire', { detach: true }, 'detach needs a wait above 0'],
    ['/v1/acquire', { request_id: '' }, 'request_id must not be empty'],
    ['/v1/renew', { ttl_ms: 99 }, 'ttl_ms must be from 100 to 86400000'],
    ['/v1/batch', { op: 'acquire', ttl_ms: 99 }, 'ttl_ms must be from 100 to 86400000'],
  ])('to %s with %j is told why in the names of the wire', async (path, fields, error) => {
    const asked = { key: 'k', owner: 'a', ...fields }
    const { body } = await rig.post(path, path === '/v1/batch' ? [asked] : asked)
    expect(path === '/v1/batch' ? body : [body]).toMatchObject([{ error }])
  })

  it.each([
    ['/v1/locks?limit=0', 'limit must be from 1 to 1000'],
    ['/v1/locks/k?kind=door', 'kind must be lock or operation'],
  ])('for %s is told why in the names of the wire', async (path, error) => {
    expect((await rig.call(path)).body).toMatchObject({ error })
  })

  it('in a session that is not there is told so once', async () => {
    const error = 'there is no such session, or it has ended'
    const { status, body } = await rig.acquire('a', { session: 'none' })
    expect([status, body]).toEqual([404, { outcome: 'refused', code: 'no_session', error }])
    const touched = await rig.call('/v1/sessions/none', { method: 'DELETE' })
    expect(touched.body).toMatchObject({ code: 'no_session', error })
  })

  it('that is not JSON in UTF-8 is told so', async () => {
    for (const body of ['{"key":', 'key=k', '"', Buffer.from([0x22, 0xff, 0x22])]) {
      const response = await fetch(`${rig.server.url}/v1/acquire`, { method: 'POST', body })
      expect(response.status).toBe(400)
    }
  })

  it('with fields that nobody knows is answered as if they were not there', async () => {
    const { status, body } = await rig.acquire('a', { colour: 'blue', __proto__x: 1 })
    expect([status, body['outcome']]).toEqual([200, 'granted'])
  })

  it('takes null for absent', async () => {
    const { status, body } = await rig.acquire('a', {
      mode: null,
      ttl_ms: null,
      wait_ms: null,
      detach: null,
      meta: null,
      request_id: null,
    })
    expect([status, body['mode'], body['lease_ms']]).toEqual([200, 'write', 30_000])
  })

  it('that is too long is refused before it is read', async () => {
    const meta = { text: 'x'.repeat(17 * 1024) }
    const { status, body } = await rig.acquire('a', { meta })
    expect([status, body['code']]).toEqual([413, 'too_large'])
  })

  it('to a path that nobody knows is a 404, with a wrong method a 405', async () => {
    expect((await rig.call('/v1/nothing')).status).toBe(404)
    expect((await rig.call('/v1/locks/')).status).toBe(404)
    const wrong = await rig.call('/v1/acquire')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
    const locks = await rig.call('/v1/locks/k', { method: 'PUT', body: {} })
    expect(locks.headers.get('allow')).toBe('GET, DELETE, HEAD')
    const stream = await fetch(`${rig.server.url}/v1/events`, { method: 'HEAD' })
    expect([stream.status, stream.headers.get('allow')]).toEqual([405, 'GET'])
  })

  it('for a key whose slash is not encoded is told what to write', async () => {
    const { status, body } = await rig.call('/v1/locks/orders/42')
    expect(status).toBe(404)
    expect(body['error']).toContain('/v1/locks/ is percent-encoded')
    expect((await rig.call('/v1/nothing')).body['error']).not.toContain('percent')
  })

  it('with a text that is not UTF-8 in its address is refused and not repaired', async () => {
    for (const path of ['/v1/locks/%FF', '/v1/locks?prefix=%C3', '/v1/locks/%']) {
      const { status, body } = await rig.call(path)
      expect([status, body['code']], path).toEqual([400, 'bad_request'])
    }
  })

  it('with a value in its address that is none is refused', async () => {
    for (const query of ['limit=ten', 'limit=0', 'limit=1001', 'kind=mutex', 'cursor=x']) {
      const { status, body } = await rig.call(`/v1/locks?${query}`)
      expect([status, body['field']], query).toEqual([400, query.split('=')[0]])
    }
    expect((await rig.call('/v1/locks/k/standing')).body['field']).toBe('owner')
  })
})

import { afterEach, describe, expect, it } from 'vitest'
import type { LawSettings } from '../../../src/law/model/settings.ts'
import { OperationsRig } from './operations-rig.ts'

let rig: OperationsRig

afterEach(() => rig.close())

async function open(settings: Partial<LawSettings> = {}): Promise<void> {
  rig = await OperationsRig.open(settings)
}

describe('POST /lock', () => {
  it('grants a free resource, with a token and the lease that a client gets that asks for none', async () => {
    await open()
    const { status, body, headers } = await rig.lock({ node_id: 'node-a' })
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/json')
    expect(body).toEqual({
      acquired: true,
      skip: false,
      token: expect.any(Number),
      lease_ms: 3_600_000,
      message: expect.any(String),
      error: '',
    })
  })

  it('queues a second node, and says which place it has', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    const { status, body } = await rig.lock({ node_id: 'node-c' })
    expect(status).toBe(200)
    expect(body).toEqual({
      acquired: false,
      skip: false,
      queued: true,
      position: 2,
      message: expect.any(String),
      error: '',
    })
  })

  it('tells a node to skip what is done, with the value that was left', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.unlock({ node_id: 'node-a', value: { size: 7 } })
    const { status, body } = await rig.lock({ node_id: 'node-b' })
    expect(status).toBe(200)
    expect(body).toEqual({
      acquired: false,
      skip: true,
      value: { size: 7 },
      message: expect.any(String),
      error: '',
    })
  })

  it('says null where an operation left no value', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.unlock({ node_id: 'node-a' })
    expect((await rig.lock({ node_id: 'node-b' })).body).toMatchObject({ skip: true, value: null })
  })

  it('refuses to delete what nodes use, and names them', async () => {
    await open()
    await rig.lock({ node_id: 'node-b' })
    await rig.unlock({ node_id: 'node-b' })
    const { status, body } = await rig.lock({ type: 'delete', node_id: 'node-a' })
    expect(status).toBe(403)
    expect(body).toEqual({
      acquired: false,
      skip: false,
      code: 'in_use',
      error: expect.stringMatching(/./),
      message: expect.stringMatching(/./),
      nodes: ['node-b'],
    })
  })

  it.each(['server', 'client', 'mutex'] as const)(
    'refuses a held resource with multi-node off, and queues nobody (%s)',
    async (coordination) => {
      await open({ coordination, multiNode: false })
      await rig.lock({ node_id: 'node-a' })
      const { status, body } = await rig.lock({ node_id: 'node-b' })
      expect(status).toBe(403)
      expect(body).toMatchObject({ acquired: false, skip: false, code: 'held', nodes: ['node-a'] })
      const shown = await rig.get('/lock/status?type=pull&resource_id=layer')
      expect(shown.body['queue']).toEqual([])
    },
  )

  it('gives a node that asks again what it already has, under the same token', async () => {
    await open()
    const first = await rig.lock({ node_id: 'node-a' })
    const again = await rig.lock({ node_id: 'node-a' })
    expect(again.body).toMatchObject({ acquired: true, token: first.body['token'] })
  })

  it('keeps a place in the queue however often its node asks', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    await rig.lock({ node_id: 'node-c' })
    for (let times = 0; times < 5; times += 1) {
      expect((await rig.lock({ node_id: 'node-b' })).body).toMatchObject({ position: 1 })
    }
    expect((await rig.lock({ node_id: 'node-c' })).body).toMatchObject({ position: 2 })
  })

  it('keeps the place of a node that asks every 30 s for an hour', async () => {
    await open({ operationTtlMs: 24 * 3_600_000 })
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    await rig.lock({ node_id: 'node-c' })
    for (let times = 0; times < 120; times += 1) {
      await rig.advance(30_000)
      expect((await rig.lock({ node_id: 'node-b' })).body).toMatchObject({ position: 1 })
    }
    expect((await rig.lock({ node_id: 'node-c' })).body).toMatchObject({ position: 2 })
  })

  it('takes any word for a type', async () => {
    await open()
    const { body } = await rig.lock({ type: 'image-layer', node_id: 'node-a' })
    expect(body).toMatchObject({ acquired: true })
  })

  it('takes null for absent, and ignores fields that it does not know', async () => {
    await open()
    const { status } = await rig.lock({
      node_id: 'node-a',
      subtype: null,
      session: null,
      ttl_ms: null,
      wait_ms: null,
      request_id: null,
      version: null,
      timestamp: '2026-01-02T03:04:05Z',
    })
    expect(status).toBe(200)
  })

  it('gives the lease that was asked for', async () => {
    await open()
    const { body } = await rig.lock({ node_id: 'node-a', ttl_ms: 30_000 })
    expect(body).toMatchObject({ acquired: true, lease_ms: 30_000 })
  })

  it('runs another version instead of skipping it', async () => {
    await open()
    await rig.lock({ type: 'update', node_id: 'node-a', version: '1' })
    await rig.unlock({ type: 'update', node_id: 'node-a' })
    const same = await rig.lock({ type: 'update', node_id: 'node-b', version: '1' })
    expect(same.body).toMatchObject({ skip: true })
    const other = await rig.lock({ type: 'update', node_id: 'node-b', version: '2' })
    expect(other.body).toMatchObject({ acquired: true })
  })

  it('runs a version instead of skipping it after a success without one', async () => {
    await open()
    await rig.lock({ type: 'update', node_id: 'node-a' })
    await rig.unlock({ type: 'update', node_id: 'node-a' })
    const second = await rig.lock({ type: 'update', node_id: 'node-b', version: 'v2' })
    expect(second.body).toMatchObject({ acquired: true })
  })

  it('answers a request that is sent again as before, also after its end', async () => {
    await open()
    const asked = { node_id: 'node-a', request_id: 'r1' }
    const first = await rig.lock(asked)
    expect((await rig.lock(asked)).body).toMatchObject({ token: first.body['token'] })
    await rig.unlock({ node_id: 'node-a' })
    const late = await rig.lock(asked)
    expect(late.status).toBe(403)
    expect(late.body).toMatchObject({ acquired: false, skip: false, code: 'ended' })
  })
})

describe('a subtype', () => {
  it('means nothing where no lanes are configured', async () => {
    await open()
    expect((await rig.lock({ node_id: 'node-a', subtype: 'whatever' })).status).toBe(200)
    expect((await rig.lock({ node_id: 'node-b', subtype: 'x'.repeat(999) })).status).toBe(200)
  })

  it('is a lane where they are', async () => {
    await open({ lanes: ['urgent', 'usual'] })
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b', subtype: 'usual' })
    const { body } = await rig.lock({ node_id: 'node-c', subtype: 'urgent' })
    expect(body).toMatchObject({ position: 1 })
    await rig.unlock({ node_id: 'node-a', error: 'no' })
    expect((await rig.lock({ node_id: 'node-c' })).body).toMatchObject({ acquired: true })
  })

  it('is a bad request where it is not one of them, also for the holder', async () => {
    await open({ lanes: ['urgent', 'usual'] })
    await rig.lock({ node_id: 'node-a' })
    for (const node of ['node-a', 'node-b']) {
      const { status, body } = await rig.lock({ node_id: node, subtype: 'other' })
      expect(status).toBe(400)
      expect(body).toMatchObject({ code: 'bad_request', field: 'subtype' })
    }
  })
})

describe('a held-open request', () => {
  it('is answered when the lock is its own', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    const asking = rig.lock({ node_id: 'node-b', wait_ms: 60_000 })
    await untilQueued(1)
    await rig.unlock({ node_id: 'node-a', error: 'broken' })
    expect((await asking).body).toMatchObject({ acquired: true, error: '' })
  })

  it('is answered queued when its time has passed, and keeps its place', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    const asking = rig.lock({ node_id: 'node-b', wait_ms: 1_000 })
    await untilQueued(1)
    await rig.lock({ node_id: 'node-c' })
    await rig.advance(1_000)
    expect((await asking).body).toMatchObject({ acquired: false, queued: true, position: 1 })
    await rig.advance(60_000)
    expect((await rig.lock({ node_id: 'node-b' })).body).toMatchObject({ position: 1 })
  })

  it('is told that its queue was dissolved where clients coordinate', async () => {
    await open({ coordination: 'client' })
    await rig.lock({ node_id: 'node-a' })
    const asking = rig.lock({ node_id: 'node-b', wait_ms: 60_000 })
    await untilQueued(1)
    await rig.unlock({ node_id: 'node-a' })
    const { status, body } = await asking
    expect(status).toBe(200)
    expect(body).toMatchObject({ acquired: false, skip: false, dissolved: true, error: '' })
  })

  it('leaves the queue with its connection, unless it can be asked for again', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    const connection = new AbortController()
    const { signal } = connection
    const lost = [
      rig.post(
        '/lock',
        { type: 'pull', resource_id: 'layer', node_id: 'node-b', wait_ms: 60_000 },
        { signal },
      ),
      rig.post(
        '/lock',
        {
          type: 'pull',
          resource_id: 'layer',
          node_id: 'node-c',
          wait_ms: 60_000,
          request_id: 'c1',
        },
        { signal },
      ),
    ]
    await untilQueued(2)
    connection.abort()
    await Promise.allSettled(lost)
    await untilQueued(1)
    const shown = await rig.get('/lock/status?type=pull&resource_id=layer')
    expect(shown.body['queue']).toMatchObject([{ node_id: 'node-c' }])
    await rig.advance(5_000)
    await untilQueued(0)
  })

  async function untilQueued(count: number): Promise<void> {
    for (;;) {
      const { body } = await rig.get('/lock/status?type=pull&resource_id=layer')
      if ((body['queue'] as unknown[]).length === count) return
    }
  }
})

describe('POST /unlock', () => {
  it('releases, and remembers the success', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    const { status, body } = await rig.unlock({ node_id: 'node-a' })
    expect(status).toBe(200)
    expect(body).toEqual({ released: true, message: expect.any(String) })
    expect((await rig.lock({ node_id: 'node-b' })).body).toMatchObject({ skip: true })
  })

  it.each([
    ['neither field', {}, true],
    ['an empty error', { error: '' }, true],
    ['an empty error and success', { error: '', success: true }, true],
    ['nulls', { error: null, success: null }, true],
    ['an error', { error: 'disk full' }, false],
    ['an error and success', { error: 'disk full', success: true }, false],
    ['no success', { success: false }, false],
    ['no success and an empty error', { error: '', success: false }, false],
  ])('with %s means: succeeded %o is %s', async (_, fields, isSuccess) => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    const asked = { type: 'pull', resource_id: 'layer', node_id: 'node-a', ...fields }
    expect((await rig.post('/unlock', asked)).body).toMatchObject({ released: true })
    const { body } = await rig.lock({ node_id: 'node-b' })
    expect(body).toMatchObject(isSuccess ? { skip: true } : { acquired: true })
  })

  it('by a stranger, or of no lock at all, is refused', async () => {
    await open()
    const expected = { released: false, code: 'not_holder', message: expect.any(String) }
    const nothing = await rig.unlock({ node_id: 'node-a' })
    expect([nothing.status, nothing.body]).toEqual([403, expected])
    await rig.lock({ node_id: 'node-a' })
    const stranger = await rig.unlock({ node_id: 'node-b' })
    expect([stranger.status, stranger.body]).toEqual([403, expected])
  })

  it('with an old token is refused', async () => {
    await open()
    const first = await rig.lock({ node_id: 'node-a' })
    await rig.unlock({ node_id: 'node-a', error: 'no' })
    await rig.lock({ node_id: 'node-a' })
    const { status, body } = await rig.unlock({ node_id: 'node-a', token: first.body['token'] })
    expect([status, body]).toEqual([
      403,
      { released: false, code: 'stale_token', message: expect.any(String) },
    ])
  })

  it('that is sent again under its request id is answered as before', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.unlock({ node_id: 'node-a', request_id: 'u1' })
    const again = await rig.unlock({ node_id: 'node-a', request_id: 'u1' })
    expect(again.body).toMatchObject({ released: true })
  })
})

describe('a bad request', () => {
  it.each([
    ['/lock', 'body', 'not json'],
    ['/lock', 'body', '[]'],
    ['/lock', 'type', { resource_id: 'r', node_id: 'n' }],
    ['/lock', 'resource_id', { type: 'pull', node_id: 'n' }],
    ['/lock', 'node_id', { type: 'pull', resource_id: 'r' }],
    ['/lock', 'type', { type: '', resource_id: 'r', node_id: 'n' }],
    ['/lock', 'type', { type: 'a b', resource_id: 'r', node_id: 'n' }],
    ['/lock', 'type', { type: 'a'.repeat(65), resource_id: 'r', node_id: 'n' }],
    ['/lock', 'resource_id', { type: 'pull', resource_id: '', node_id: 'n' }],
    ['/lock', 'resource_id', { type: 'pull', resource_id: 'r'.repeat(513), node_id: 'n' }],
    ['/lock', 'resource_id', { type: 'pull', resource_id: 7, node_id: 'n' }],
    ['/lock', 'node_id', { type: 'pull', resource_id: 'r', node_id: '' }],
    ['/lock', 'node_id', { type: 'pull', resource_id: 'r', node_id: 'n'.repeat(257) }],
    ['/lock', 'ttl_ms', { type: 'pull', resource_id: 'r', node_id: 'n', ttl_ms: 1 }],
    ['/lock', 'wait_ms', { type: 'pull', resource_id: 'r', node_id: 'n', wait_ms: 'long' }],
    ['/unlock', 'node_id', { type: 'pull', resource_id: 'r', node_id: '' }],
    ['/unlock', 'success', { type: 'pull', resource_id: 'r', node_id: 'n', success: 'yes' }],
    ['/unlock', 'token', { type: 'pull', resource_id: 'r', node_id: 'n', token: -1 }],
    ['/lock/status', 'type', { type: 'a b', resource_id: 'r', node_id: 'n' }],
    ['/unref', 'node_id', { resource_id: 'r' }],
  ])('to %s names %s as the field that is wrong', async (path, field, asked) => {
    await open()
    const { status, body } = await rig.post(path, asked)
    expect(status).toBe(400)
    expect(body).toEqual({ error: expect.stringMatching(/./), code: 'bad_request', field })
  })

  it.each([
    ['/lock/subscribe?resource_id=r', 'type'],
    ['/lock/subscribe?type=pull', 'resource_id'],
    ['/subscribe?type=a%20b&resource_id=r', 'type'],
    ['/lock/status?type=pull', 'resource_id'],
    ['/refs', 'resource_id'],
  ])('to %s names the field that is wrong', async (path, field) => {
    await open()
    const { status, body } = await rig.get(path)
    expect([status, body['code'], body['field']]).toEqual([400, 'bad_request', field])
  })
})

describe('a session in a request', () => {
  it('has to exist', async () => {
    await open()
    const { status, body } = await rig.lock({ node_id: 'node-a', session: 'gone' })
    expect(status).toBe(404)
    expect(body).toMatchObject({ code: 'no_session', field: 'session' })
  })
})

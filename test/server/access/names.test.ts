import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Served, serve, tokensFor } from '../served.ts'

const KEY = 'orders/42'
const ALICE = 'alice-token'
const BOB = 'bob-token'
const OPS = 'ops-token'

let served: Served

beforeEach(async () => {
  served = await serve({
    tokens: tokensFor({ name: 'alice' }, { name: 'bob' }, { name: 'ops', role: 'admin' }),
  })
})

afterEach(() => served.close())

describe('a hold belongs to the principal that took it', () => {
  it('two principals with the same owner name are two owners', async () => {
    const first = await served.post('/v1/acquire', { key: KEY, owner: 'worker' }, ALICE)
    const second = await served.post('/v1/acquire', { key: KEY, owner: 'worker' }, BOB)
    expect(first.body).toMatchObject({ outcome: 'granted', owner: 'worker' })
    expect(second).toMatchObject({ status: 409, body: { code: 'held' } })
  })

  it.each([
    ['release', {}],
    ['renew', { ttl_ms: 1000 }],
  ])('nobody else can %s it', async (verb, more) => {
    await served.post('/v1/acquire', { key: KEY, owner: 'worker' }, ALICE)
    const body = { key: KEY, owner: 'worker', ...more }
    expect((await served.post(`/v1/${verb}`, body, BOB)).body).toMatchObject({ code: 'not_holder' })
    const whole = { ...body, owner: 'alice/worker' }
    expect((await served.post(`/v1/${verb}`, whole, BOB)).body).toMatchObject({
      code: 'not_holder',
    })
    expect((await served.post(`/v1/${verb}`, body, ALICE)).status).toBe(200)
  })

  it('everybody sees their own names as they said them, and those of others whole', async () => {
    await served.post('/v1/acquire', { key: KEY, owner: 'worker' }, ALICE)
    const seen = async (token: string): Promise<unknown> => {
      const { body } = await served.call(`/v1/locks/${encodeURIComponent(KEY)}`, { token })
      return (body['holders'] as { owner: string }[])[0]?.owner
    }
    expect(await seen(ALICE)).toBe('worker')
    expect(await seen(BOB)).toBe('alice/worker')
    const refused = await served.post('/v1/acquire', { key: KEY, owner: 'b' }, BOB)
    expect(refused.body['holders']).toMatchObject([{ owner: 'alice/worker' }])
  })

  it('a cycle of waits shows the names that its reader knows', async ({ skip }) => {
    skip(!served.engine.capabilities.seesDeadlocks, 'this engine sees no deadlocks')
    await served.post('/v1/acquire', { key: 'a', owner: 'x', party: 'p' }, ALICE)
    await served.post('/v1/acquire', { key: 'b', owner: 'y', party: 'p' }, BOB)
    const detached = { detach: true, wait_ms: 5000 }
    await served.post('/v1/acquire', { key: 'b', owner: 'x2', party: 'p', ...detached }, ALICE)
    const { body } = await served.post(
      '/v1/acquire',
      { key: 'a', owner: 'y2', party: 'p', ...detached },
      BOB,
    )
    expect(body).toMatchObject({ code: 'deadlock' })
    expect(new Set(body['cycle'] as string[])).toEqual(new Set(['p', 'alice/p']))
  })

  it('two principals have two sessions of the same name', async () => {
    for (const token of [ALICE, BOB]) {
      await served.call('/v1/sessions/s', { method: 'PUT', body: { grace_ms: 5000 }, token })
    }
    await served.post('/v1/acquire', { key: KEY, owner: 'w', session: 's' }, ALICE)
    await served.call('/v1/sessions/s', { method: 'DELETE', token: BOB })
    expect((await served.engine.read({ kind: 'stats' })).holds).toBe(1)
    await served.call('/v1/sessions/s', { method: 'DELETE', token: ALICE })
    expect((await served.engine.read({ kind: 'stats' })).holds).toBe(0)
  })
})

describe('operations', () => {
  const pull = (node: string): Record<string, string> => ({
    type: 'pull',
    resource_id: 'layer-1',
    node_id: node,
  })

  it('nodes of two principals are two nodes, shown to each as it knows them', async () => {
    expect((await served.post('/lock', pull('n1'), ALICE)).body).toMatchObject({ acquired: true })
    expect((await served.post('/lock', pull('n1'), BOB)).body).toMatchObject({ queued: true })
    expect((await served.post('/unlock', pull('n1'), BOB)).status).toBe(403)
    expect((await served.post('/unlock', pull('n1'), ALICE)).body).toMatchObject({ released: true })
    expect((await served.post('/lock', pull('n1'), BOB)).body).toMatchObject({ skip: true })
    const { body } = await served.call('/refs?resource_id=layer-1', { token: BOB })
    expect(body).toMatchObject({ count: 2, nodes: ['alice/n1', 'n1'] })
  })

  it('a status names the holder as its reader knows it', async () => {
    await served.post('/lock', pull('n1'), ALICE)
    const path = '/lock/status?type=pull&resource_id=layer-1'
    expect((await served.call(path, { token: ALICE })).body).toMatchObject({ holder: 'n1' })
    expect((await served.call(path, { token: BOB })).body).toMatchObject({ holder: 'alice/n1' })
  })
})

describe('an operator', () => {
  it('ends the holds of others by the names that a list shows', async () => {
    await served.post('/v1/acquire', { key: KEY, owner: 'worker' }, ALICE)
    const path = `/v1/locks/${encodeURIComponent(KEY)}?owner=${encodeURIComponent('alice/worker')}`
    expect((await served.call(path, { method: 'DELETE', token: OPS })).body).toMatchObject({
      forced: 1,
    })
  })

  it('finds what another principal holds', async () => {
    await served.post('/v1/acquire', { key: KEY, owner: 'worker' }, ALICE)
    const { body } = await served.call('/v1/locks?owner=alice/worker', { token: OPS })
    expect(body['locks']).toMatchObject([{ key: KEY, holders: [{ owner: 'alice/worker' }] }])
    const own = await served.call('/v1/locks?owner=worker', { token: OPS })
    expect(own.body['locks']).toEqual([])
  })

  it('has names of its own like everybody', async () => {
    await served.post('/v1/acquire', { key: KEY, owner: 'night/shift' }, OPS)
    const { body } = await served.call('/v1/locks?owner=night/shift', { token: OPS })
    expect(body['locks']).toMatchObject([{ holders: [{ owner: 'night/shift' }] }])
  })
})

it('an owner is as long as the limit less the name of its principal', async () => {
  const ask = (length: number) =>
    served.post('/v1/acquire', { key: KEY, owner: 'o'.repeat(length) }, ALICE)
  expect((await ask(251)).body).toMatchObject({ code: 'bad_request', field: 'owner' })
  expect((await ask(250)).status).toBe(200)
})

it('history shows the names that its reader knows', async () => {
  await served.post('/v1/acquire', { key: KEY, owner: 'worker' }, ALICE)
  await served.post('/v1/release', { key: KEY, owner: 'worker' }, ALICE)
  const { body } = await served.call(`/v1/history?key=${encodeURIComponent(KEY)}`, { token: BOB })
  expect(body['history']).toMatchObject([{ owner: 'alice/worker', end: 'released' }])
})

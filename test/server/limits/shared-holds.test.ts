import { afterEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import type { LockServerOptions } from '../../../src/server/lock-server.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { type Served, serve, tokensFor } from '../served.ts'
import { openTestEngine } from '../test-engine.ts'

let served: Served
let engine: LockEngine

async function open(holds: number, more: Partial<LockServerOptions> = {}): Promise<void> {
  engine = await openTestEngine()
  served = await serve({ engine, limits: { holds }, ...more })
}

afterEach(() => served.close())

const acquire = (key: string, more = {}, token?: string) =>
  served.post('/v1/acquire', { key, owner: 'o', ...more }, token)

const release = (key: string, more = {}, token?: string) =>
  served.post('/v1/release', { key, owner: 'o', ...more }, token)

async function acquireAll(...keys: readonly string[]): Promise<readonly number[]> {
  const statuses: number[] = []
  for (const key of keys) statuses.push((await acquire(key)).status)
  return statuses
}

describe('the limit on holds', () => {
  it('has room again when a release is answered', async () => {
    await open(1, { tokens: tokensFor({ name: 'alice' }) })
    for (let turn = 0; turn < 20; turn += 1) {
      expect((await acquire('a', {}, 'alice-token')).status).toBe(200)
      expect((await acquire('b', {}, 'alice-token')).status).toBe(429)
      expect((await release('a', {}, 'alice-token')).status).toBe(200)
    }
  })

  it.each([[undefined], ['alice-token']])(
    'has room again when an operation is over, for the token %s',
    async (token) => {
      await open(1, token === undefined ? {} : { tokens: tokensFor({ name: 'alice' }) })
      const pull = { type: 'pull', resource_id: 'r', node_id: 'n', error: 'no' }
      for (let turn = 0; turn < 20; turn += 1) {
        expect((await served.post('/lock', pull, token)).body).toMatchObject({ acquired: true })
        const other = { ...pull, resource_id: 's' }
        expect((await served.post('/lock', other, token)).status).toBe(429)
        expect((await served.post('/unlock', pull, token)).status).toBe(200)
      }
    },
  )

  it('counts the steps of a hold once, and until the last is released', async () => {
    await open(2)
    await acquire('a', { request_id: '1' })
    await acquire('a', { request_id: '2' })
    expect(await acquireAll('b', 'c')).toEqual([200, 429])
    await release('a')
    expect(await acquireAll('c')).toEqual([429])
    await release('a')
    expect(await acquireAll('c', 'd')).toEqual([200, 429])
  })

  it('gives no room for a release that is sent again', async () => {
    await open(2, { tokens: tokensFor({ name: 'alice' }) })
    await acquire('a', {}, 'alice-token')
    await acquire('b', {}, 'alice-token')
    for (let turn = 0; turn < 3; turn += 1) await release('a', { request_id: '1' }, 'alice-token')
    const statuses = async (...keys: readonly string[]) =>
      Promise.all(keys.map(async (key) => (await acquire(key, {}, 'alice-token')).status))
    await expect.poll(() => statuses('c')).toEqual([200])
    expect(await statuses('d', 'e', 'f')).toEqual([429, 429, 429])
  })

  it('counts what was held before the server started, until it is released', async () => {
    engine = await openTestEngine()
    await engine.apply({ kind: 'acquire', key: 'old', owner: 'o', requestId: '1' })
    served = await serve({ engine, limits: { holds: 2 } })
    expect(await acquireAll('a', 'b')).toEqual([200, 429])
    await release('old')
    expect(await acquireAll('b', 'c')).toEqual([200, 429])
  })
})

describe('two servers on one engine', () => {
  it('pass the limit by one at most when they are asked in turns', async () => {
    // Counting takes no time, so it is not put off.
    const clock = new VirtualClock()
    await open(40, { clock })
    const other = await serve({ engine, clock, limits: { holds: 40 } })
    let granted = 0
    for (let turn = 0; turn < 60; turn += 1) {
      const { post } = turn % 2 === 0 ? served : other
      const { status } = await post('/v1/acquire', { key: `k${turn}`, owner: 'o' })
      if (status === 200) granted += 1
    }
    expect([40, 41]).toContain(granted)
    await other.server.close()
  })

  it('have room for what the other one released', async () => {
    await open(2)
    const other = await serve({ engine, limits: { holds: 2 } })
    expect(await acquireAll('a', 'b', 'c')).toEqual([200, 200, 429])
    await other.post('/v1/release', { key: 'a', owner: 'o' })
    expect(await acquireAll('c', 'd')).toEqual([200, 429])
    await other.server.close()
  })
})

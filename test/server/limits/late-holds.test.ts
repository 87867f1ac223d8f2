import { afterEach, describe, expect, it } from 'vitest'
import type { LockServerOptions } from '../../../src/server/lock-server.ts'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { type Served, serve, tokensFor } from '../served.ts'
import { createLateEngine, type LateEngine } from './late-engine.ts'

let served: Served
let engine: LateEngine

async function open(holds: number, more: Partial<LockServerOptions> = {}): Promise<void> {
  engine = createLateEngine(openMemoryEngine())
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

/** What a server on the same engine does, of which this one only hears. */
async function elsewhere(
  kind: 'acquire' | 'release',
  key: string,
  requestId = '1',
): Promise<unknown> {
  return engine.apply({ kind, key, owner: 'o', requestId })
}

describe('the limit on holds where events come late', () => {
  it('counts a hold when it is answered', async () => {
    await open(2)
    expect(await acquireAll('a', 'b', 'c')).toEqual([200, 200, 429])
    engine.tell()
    expect(await acquireAll('c')).toEqual([429])
  })

  it('has room again when a release is answered', async () => {
    await open(1, { tokens: tokensFor({ name: 'alice' }) })
    for (let turn = 0; turn < 20; turn += 1) {
      expect((await acquire('a', {}, 'alice-token')).status).toBe(200)
      expect((await acquire('b', {}, 'alice-token')).status).toBe(429)
      if (turn % 3 === 0) engine.tell(1)
      expect((await release('a', {}, 'alice-token')).status).toBe(200)
      if (turn % 4 === 0) engine.tell()
    }
  })

  it('has room again when an operation is over', async () => {
    await open(1)
    const pull = { type: 'pull', resource_id: 'r', node_id: 'n', error: 'no' }
    for (let turn = 0; turn < 20; turn += 1) {
      expect((await served.post('/lock', pull)).body).toMatchObject({ acquired: true })
      if (turn % 3 === 0) engine.tell(1)
      expect((await served.post('/lock', { ...pull, resource_id: 's' })).status).toBe(429)
      expect((await served.post('/unlock', pull)).status).toBe(200)
    }
  })

  it('counts the steps of a hold once, and until the last is released', async () => {
    await open(2)
    await acquire('a', { request_id: '1' })
    await acquire('a', { request_id: '2' })
    expect(await acquireAll('b', 'c')).toEqual([200, 429])
    engine.tell()
    await release('a')
    engine.tell()
    expect(await acquireAll('c')).toEqual([429])
    await release('a')
    expect(await acquireAll('c', 'd')).toEqual([200, 429])
    engine.tell()
    expect(await acquireAll('d')).toEqual([429])
  })

  it('counts what other servers grant when it hears of it', async () => {
    await open(2, { tokens: tokensFor({ name: 'alice' }) })
    // Having looked once, it knows everything, and need not look for a while.
    await acquire('a', {}, 'alice-token')
    await elsewhereAs('alice', 'acquire', 'b')
    engine.tell()
    expect((await acquire('c', {}, 'alice-token')).status).toBe(429)
    await elsewhereAs('alice', 'release', 'b')
    engine.tell()
    expect((await acquire('c', {}, 'alice-token')).status).toBe(200)
  })

  it('follows the steps that are released elsewhere', async () => {
    await open(1)
    await elsewhere('acquire', 'a', '1')
    await elsewhere('acquire', 'a', '2')
    engine.tell()
    expect(await acquireAll('b')).toEqual([429])
    await elsewhere('release', 'a', '3')
    engine.tell()
    expect(await acquireAll('b')).toEqual([429])
    await elsewhere('release', 'a', '4')
    engine.tell()
    await expect.poll(() => acquireAll('b')).toEqual([200])
  })

  it('counts anew when it has lost track', async () => {
    await open(2)
    await acquire('a')
    await elsewhere('release', 'a', 'r')
    await elsewhere('acquire', 'b')
    engine.lose()
    expect(await acquireAll('c', 'd')).toEqual([200, 429])
  })

  it('counts what was held before the server started', async () => {
    engine = createLateEngine(openMemoryEngine())
    await elsewhere('acquire', 'old')
    served = await serve({ engine, limits: { holds: 2 } })
    expect(await acquireAll('a', 'b')).toEqual([200, 429])
    await release('old')
    expect(await acquireAll('b', 'c')).toEqual([200, 429])
  })
})

async function elsewhereAs(
  principal: string,
  kind: 'acquire' | 'release',
  key: string,
): Promise<unknown> {
  return engine.apply({ kind, key, owner: `${principal}/o`, requestId: '1' })
}

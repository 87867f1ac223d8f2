import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WaitTimes } from '../../../src/server/observe/wait-times.ts'
import { type LockRig, openRig } from '../locks/lock-rig.ts'
import { pass } from '../test-engine.ts'

let rig: LockRig

beforeEach(async () => {
  rig = await openRig()
})

afterEach(() => rig.close())

/** How many waits are in the histogram, and how many seconds they took together. */
async function waits(): Promise<readonly [count: number, seconds: number]> {
  return [await read('holdfast_wait_seconds_count'), await read('holdfast_wait_seconds_sum')]
}

async function read(name: string): Promise<number> {
  const text = String((await rig.call('/metrics')).body['text'])
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1])
}

const passMs = (ms: number): Promise<void> => pass(rig.engine, rig.clock, ms)

const lock = (node: string, fields: object = {}): ReturnType<LockRig['post']> =>
  rig.post('/lock', { type: 'pull', resource_id: 'r', node_id: node, ...fields })

const unlock = (node: string, error = ''): ReturnType<LockRig['post']> =>
  rig.post('/unlock', { type: 'pull', resource_id: 'r', node_id: node, error })

describe('a lock that is granted at once', () => {
  it('counts as a wait of nothing', async () => {
    await rig.acquire('a')
    await rig.acquire('b', { key: 'other', wait_ms: 1_000 })
    await lock('n')
    expect(await waits()).toEqual([3, 0])
  })

  it('counts once however often the same request is sent', async () => {
    for (let round = 0; round < 3; round += 1) {
      await rig.acquire('a', { request_id: 'one', wait_ms: 1_000 })
    }
    expect(await waits()).toEqual([1, 0])
  })

  it('counts as nothing while others wait, also for a name that looks like theirs', async () => {
    await rig.acquire('a')
    const waiting = await rig.wait('b', { wait_ms: 60_000 })
    await passMs(2_000)
    await rig.acquire('b', { key: 'other' })
    await rig.post('/v1/begin', { type: 'pull', resource: 'k', node: 'b' })
    expect(await waits()).toEqual([3, 0])
    waiting.hangUp()
  })
})

describe('a wait counts from joining the queue until the grant', () => {
  it('of a request that is held open', async () => {
    await rig.acquire('a')
    const waiting = await rig.wait('b', { wait_ms: 60_000 })
    await passMs(2_000)
    await rig.post('/v1/release', { key: 'k', owner: 'a' })
    expect((await waiting.answer).status).toBe(200)
    expect(await waits()).toEqual([2, 2])
  })

  it('of a client that asks /lock and comes back', async () => {
    await lock('a')
    await lock('b')
    await passMs(2_000)
    await lock('b')
    await passMs(1_000)
    await unlock('a', 'disk full')
    expect(await waits()).toEqual([2, 3])
    expect((await lock('b')).body).toMatchObject({ acquired: true })
    expect(await waits()).toEqual([2, 3])
  })

  it('of a request that asks with detach', async () => {
    await rig.acquire('a')
    const ask = { wait_ms: 60_000, detach: true }
    expect((await rig.acquire('b', ask)).body).toMatchObject({ outcome: 'queued' })
    await passMs(2_000)
    await rig.post('/v1/release', { key: 'k', owner: 'a' })
    expect((await rig.acquire('b', ask)).body).toMatchObject({ outcome: 'granted' })
    expect(await waits()).toEqual([2, 2])
  })

  it('of a request that is sent again while it waits', async () => {
    await rig.acquire('a')
    const ask = { wait_ms: 60_000, request_id: 'one' }
    const waiting = await rig.wait('b', ask)
    await passMs(1_000)
    const again = await rig.acquire('b', { ...ask, detach: true })
    expect(again.body).toMatchObject({ outcome: 'queued' })
    await passMs(1_000)
    await rig.post('/v1/release', { key: 'k', owner: 'a' })
    expect((await waiting.answer).status).toBe(200)
    expect((await rig.acquire('b', ask)).status).toBe(200)
    expect(await waits()).toEqual([2, 2])
  })
})

describe('a wait counts as well that ends without a grant', () => {
  it('because it took too long', async () => {
    await rig.acquire('a', { ttl_ms: 60_000 })
    const waiting = await rig.wait('b', { wait_ms: 2_000 })
    await passMs(2_000)
    expect((await waiting.answer).body).toMatchObject({ code: 'timeout' })
    expect(await waits()).toEqual([2, 2])
  })

  it('because it was cancelled', async () => {
    await rig.acquire('a')
    await rig.acquire('b', { wait_ms: 60_000, detach: true })
    await passMs(2_000)
    await rig.post('/v1/cancel', { key: 'k', owner: 'b' })
    expect(await waits()).toEqual([2, 2])
  })

  it('because the work was done by another', async () => {
    await lock('a')
    await lock('b')
    await passMs(2_000)
    await unlock('a')
    expect(await waits()).toEqual([2, 2])
  })

  it('because there is nothing left to upgrade', async () => {
    await rig.acquire('a', { mode: 'read' })
    await rig.acquire('b', { mode: 'read' })
    await rig.acquire('a', { mode: 'write', wait_ms: 60_000, detach: true })
    await passMs(2_000)
    await rig.post('/v1/release', { key: 'k', owner: 'a', mode: 'read' })
    expect(await waits()).toEqual([3, 2])
  })
})

it('a request that waited when events were missed counts as a wait of nothing', () => {
  let nowMs = 0
  const observed: number[] = []
  const times = new WaitTimes({ observe: (seconds) => observed.push(seconds) }, () => nowMs)
  const request = { namespace: 'lock', key: 'k', owner: 'a', requestId: '1' } as const
  times.hear({ kind: 'queued', ...request })
  times.forget()
  nowMs = 5_000
  times.hear({ kind: 'granted', ...request })
  expect(observed).toEqual([0])
})

it('a grant that was undone is not a second wait', async () => {
  await lock('a')
  await lock('b')
  await passMs(2_000)
  await unlock('a', 'disk full')
  await passMs(10_000)
  await lock('c')
  expect(await waits()).toEqual([3, 2])
})

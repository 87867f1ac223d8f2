import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { holders, type LockRig, OpenRequest, openRig, waiters } from './lock-rig.ts'

const GRACE_MS = 5_000

let rig: LockRig

beforeEach(async () => {
  rig = await openRig({ sessionGraceMs: GRACE_MS })
  await rig.acquire('a', { ttl_ms: 3_600_000 })
})

afterEach(() => rig.close())

const release = (): Promise<unknown> => rig.post('/v1/release', { key: 'k', owner: 'a' })
const queue = (): Promise<string[]> => waiters(rig.engine)

/** The server has noticed that a connection broke: the timer of its grace is set. */
async function untilNoticed(timersBefore: number): Promise<void> {
  await expect.poll(() => rig.clock.pendingTimers).toBeGreaterThan(timersBefore)
}

describe('a waiter whose connection breaks', () => {
  it('leaves at once if it cannot name its request', async () => {
    const wait = await rig.wait('b', { wait_ms: 'forever' })
    await rig.wait('c', { wait_ms: 'forever' })
    wait.hangUp()
    await expect.poll(queue).toEqual(['c'])
  })

  it('keeps its place for the grace if it can, and leaves then', async () => {
    const timers = rig.clock.pendingTimers
    const wait = await rig.wait('b', { wait_ms: 'forever', request_id: '1' })
    wait.hangUp()
    await untilNoticed(timers)
    await rig.clock.advance(GRACE_MS - 1)
    expect(await queue()).toEqual(['b'])
    await rig.clock.advance(1)
    await expect.poll(queue).toEqual([])
    const { body } = await rig.acquire('b', { wait_ms: 1_000, request_id: '1' })
    expect(body).toMatchObject({ outcome: 'refused', code: 'abandoned' })
  })

  it('keeps its place for good if it comes back in time', async () => {
    const timers = rig.clock.pendingTimers
    const wait = await rig.wait('b', { wait_ms: 'forever', request_id: '1' })
    await rig.wait('c', { wait_ms: 'forever' })
    wait.hangUp()
    await untilNoticed(timers)
    const back = new OpenRequest(`${rig.server.url}/v1/acquire`, {
      key: 'k',
      owner: 'b',
      wait_ms: 'forever',
      request_id: '1',
    })
    await expect.poll(() => rig.clock.pendingTimers).toBe(timers)
    await rig.clock.advance(2 * GRACE_MS)
    expect(await queue()).toEqual(['b', 'c'])
    await release()
    expect((await back.answer).body).toMatchObject({ outcome: 'granted', owner: 'b' })
  })

  it('does not lose its place because an older connection of it closes late', async () => {
    const old = await rig.wait('b', { wait_ms: 'forever', request_id: '1' })
    const named = { key: 'k', owner: 'b', wait_ms: 'forever', request_id: '1' }
    const back = new OpenRequest(`${rig.server.url}/v1/acquire`, named, { prefer: 'processing' })
    await expect.poll(() => back.interim).toEqual([102])
    old.hangUp()
    await expect(old.answer).rejects.toThrow('socket hang up')
    await rig.clock.advance(2 * GRACE_MS)
    expect(await queue()).toEqual(['b'])
    await release()
    expect((await back.answer).body).toMatchObject({ outcome: 'granted' })
  })

  it('gives back a grant that nobody came for', async () => {
    const timers = rig.clock.pendingTimers
    const wait = await rig.wait('b', { wait_ms: 'forever', request_id: '1' })
    await rig.wait('c', { wait_ms: 'forever' })
    wait.hangUp()
    await untilNoticed(timers)
    await release()
    expect(await holders(rig.engine)).toEqual(['b'])
    await rig.clock.advance(GRACE_MS)
    await expect.poll(() => holders(rig.engine)).toEqual(['c'])
  })

  it('finds the grant when it comes back for it', async () => {
    const timers = rig.clock.pendingTimers
    const wait = await rig.wait('b', { wait_ms: 'forever', request_id: '1' })
    wait.hangUp()
    await untilNoticed(timers)
    await release()
    const { body } = await rig.acquire('b', { wait_ms: 1_000, request_id: '1' })
    expect(body).toMatchObject({ outcome: 'granted', token: 2, writes: 1 })
    await rig.clock.advance(2 * GRACE_MS)
    expect(await holders(rig.engine)).toEqual(['b'])
  })
})

it('who prefers it hears that its request stands in the queue', async () => {
  const body = { key: 'k', owner: 'b', wait_ms: 'forever' }
  const prefers = { prefer: 'processing' }
  const told = new OpenRequest(`${rig.server.url}/v1/acquire`, body, prefers)
  await expect.poll(() => told.interim).toEqual([102])
  expect(await queue()).toEqual(['b'])
  const untold = await rig.wait('c', { wait_ms: 'forever' })
  await release()
  expect((await told.answer).status).toBe(200)
  await rig.post('/v1/release', { key: 'k', owner: 'b' })
  expect((await untold.answer).status).toBe(200)
  expect(untold.interim).toEqual([])
})

it('a server that stops tells those who wait to come back', async () => {
  const wait = await rig.wait('b', { wait_ms: 'forever', request_id: '1' })
  await rig.server.close()
  const answer = await wait.answer.catch(() => undefined)
  if (answer !== undefined) expect(answer).toMatchObject({ status: 503, body: { retryable: true } })
  expect(await queue()).toEqual(['b'])
})

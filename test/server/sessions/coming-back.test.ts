import { describe, expect, it } from 'vitest'
import type { Acquire } from '../../../src/law/model/commands.ts'
import { CLOSE_CODES } from '../../../src/wire/session/session-limits.ts'
import { pass } from '../test-engine.ts'
import type { RawClient } from './raw-client.ts'
import { GRACE_MS, openSessionRig, patience, type SessionRig } from './session-rig.ts'

/** The lease of what is held here. */
const TTL_MS = 60_000

function acquire(owner: string, fields: Partial<Acquire> = {}): Acquire {
  return { kind: 'acquire', key: 'k', owner, requestId: '1', ttlMs: TTL_MS, ...fields }
}

const forever = { waitMs: Number.POSITIVE_INFINITY }

/** A client that waits for `k`, which another owner holds. */
async function openWaiting(rig: SessionRig): Promise<RawClient> {
  await rig.engine.apply(acquire('holder'))
  const client = await rig.client()
  client.ask(1, acquire('a', forever))
  await patience.until(async () => (await rig.waiters('k')).length === 1, 'it waits')
  return client
}

/** Resolves when the server has noticed it, and the grace runs. */
async function cut(rig: SessionRig, client: RawClient): Promise<void> {
  const timers = rig.clock.pendingTimers
  client.cut()
  await patience.until(() => rig.clock.pendingTimers > timers, 'the server has noticed')
}

describe('a client that comes back in time', () => {
  it('has nothing done twice that it sends again under the same request ids', async () => {
    const rig = await openSessionRig()
    const before = await rig.client()
    const asked = [
      [1, acquire('a')],
      [2, acquire('a', { requestId: '2' })],
      [3, { kind: 'release', key: 'k', owner: 'a', requestId: '3' }],
    ] as const
    before.say(...asked)
    await before.answer(3)
    await cut(rig, before)
    const after = await rig.client({ session: before.session })
    after.say(...asked, [4, { kind: 'release', key: 'k', owner: 'a' }])
    expect(await after.answer(1)).toMatchObject({ kind: 'granted', token: 1 })
    expect(await after.answer(3)).toMatchObject({ kind: 'released', writes: 1 })
    expect(await after.answer(4)).toMatchObject({ kind: 'released', writes: 0 })
    expect(await rig.holders('k')).toEqual([])
  })

  it('is told what it asks for on its new connection, and nothing that it asked for on the old one', async () => {
    const rig = await openSessionRig()
    const before = await openWaiting(rig)
    const after = await rig.client({ session: before.session })
    expect((await before.closed).code).toBe(CLOSE_CODES.superseded)
    await rig.engine.apply({ kind: 'release', key: 'k', owner: 'holder' })
    after.ask(7, { kind: 'sweep' })
    await after.answer(7)
    expect(after.heard.map(([number]) => number)).not.toContain(1)
    after.ask(2, acquire('a', forever))
    expect(await after.answer(2)).toMatchObject({ kind: 'granted' })
    expect(await rig.holders('k')).toEqual(['a'])
  })

  it('is not told of a refusal on a connection that did not ask', async () => {
    const rig = await openSessionRig()
    await rig.engine.apply(acquire('holder'))
    const before = await rig.client()
    const timed = acquire('a', { waitMs: 1_000 })
    before.ask(1, timed)
    await patience.until(async () => (await rig.waiters('k')).length === 1, 'it waits')
    const after = await rig.client({ session: before.session })
    await rig.clock.advance(1_000)
    after.ask(7, { kind: 'sweep' })
    await after.answer(7)
    expect(after.heard.map(([number]) => number)).not.toContain(1)
    after.ask(1, timed)
    expect(await after.answer(1)).toMatchObject({ kind: 'refused', code: 'timeout' })
  })

  it('keeps its place if it asks again, and the late close of the old connection means nothing', async () => {
    const rig = await openSessionRig()
    const before = await openWaiting(rig)
    const after = await rig.client({ session: before.session })
    after.ask(1, acquire('a', forever))
    await before.closed
    const behind = rig.engine.apply(acquire('behind', forever))
    await patience.until(async () => (await rig.waiters('k')).length === 2, 'both wait')
    await rig.clock.advance(3 * GRACE_MS)
    expect(await rig.waiters('k')).toEqual(['a', 'behind'])
    await rig.engine.apply({ kind: 'release', key: 'k', owner: 'holder' })
    expect(await after.answer(1)).toMatchObject({ kind: 'granted' })
    after.ask(1, { kind: 'release', key: 'k', owner: 'a' })
    expect(await behind).toMatchObject({ kind: 'granted' })
  })

  it('may do so several times in a row', async () => {
    const rig = await openSessionRig()
    let client = await openWaiting(rig)
    for (let round = 0; round < 5; round += 1) {
      const { session } = client
      if (round % 2 === 0) client.cut()
      client = await rig.client({ session })
      client.ask(1, acquire('a', forever))
    }
    await rig.engine.apply({ kind: 'release', key: 'k', owner: 'holder' })
    await client.answer(1)
    expect(await rig.holders('k')).toEqual(['a'])
  })

  it('loses the places that it does not ask for again, when the grace is over', async () => {
    const rig = await openSessionRig()
    const before = await openWaiting(rig)
    before.ask(2, acquire('b', forever))
    await patience.until(async () => (await rig.waiters('k')).length === 2, 'both wait')
    await cut(rig, before)
    const after = await rig.client({ session: before.session })
    after.ask(2, acquire('b', forever))
    after.ask(3, { kind: 'sweep' })
    await after.answer(3)
    await rig.clock.advance(GRACE_MS - 1)
    expect(await rig.waiters('k')).toEqual(['a', 'b'])
    await rig.clock.advance(1)
    await patience.until(async () => (await rig.waiters('k')).length === 1, 'one place is given up')
    expect(await rig.waiters('k')).toEqual(['b'])
  })

  it('finds a grant that came while it was away', async () => {
    const rig = await openSessionRig()
    const before = await openWaiting(rig)
    await cut(rig, before)
    await rig.engine.apply({ kind: 'release', key: 'k', owner: 'holder' })
    expect(await rig.holders('k')).toEqual(['a'])
    const after = await rig.client({ session: before.session })
    after.ask(1, acquire('a', forever))
    expect(await after.answer(1)).toMatchObject({ kind: 'granted', token: 2 })
    await rig.clock.advance(3 * GRACE_MS)
    expect(await rig.holders('k')).toEqual(['a'])
  })

  it('may use the id of a wait for another request, which gives up the wait', async () => {
    const rig = await openSessionRig()
    const before = await openWaiting(rig)
    const after = await rig.client({ session: before.session })
    after.ask(1, { kind: 'sweep' })
    await after.answer(1)
    await patience.until(async () => (await rig.waiters('k')).length === 0, 'the place is given up')
  })

  it('counts losses on from where the session was', async () => {
    const rig = await openSessionRig()
    const before = await rig.client()
    before.ask(1, acquire('a', { session: before.session }))
    await before.answer(1)
    await cut(rig, before)
    await rig.engine.apply({ kind: 'force', key: 'k' })
    const after = await rig.client({ session: before.session })
    expect(after.welcome.losses).toBe(before.welcome.losses + 1)
    const other = await rig.client()
    expect(other.welcome.losses).not.toBe(after.welcome.losses)
  })
})

describe('a client that does not come back', () => {
  it('keeps its place for the grace and not longer', async () => {
    const rig = await openSessionRig()
    const client = await openWaiting(rig)
    await cut(rig, client)
    await rig.clock.advance(GRACE_MS - 1)
    expect(await rig.waiters('k')).toEqual(['a'])
    await rig.clock.advance(1)
    await patience.until(async () => (await rig.waiters('k')).length === 0, 'it left')
    const replay = await rig.engine.apply(acquire('a'))
    expect(replay).toMatchObject({ kind: 'refused', code: 'abandoned' })
  })

  it('gives back a grant that it never heard of', async () => {
    const rig = await openSessionRig()
    const client = await openWaiting(rig)
    const next = rig.engine.apply(acquire('b', forever))
    await cut(rig, client)
    await rig.engine.apply({ kind: 'release', key: 'k', owner: 'holder' })
    expect(await rig.holders('k')).toEqual(['a'])
    await rig.clock.advance(GRACE_MS)
    expect(await next).toMatchObject({ kind: 'granted' })
    expect(await rig.holders('k')).toEqual(['b'])
  })

  it('keeps until its lease ends what it may have heard of', async () => {
    const rig = await openSessionRig()
    const client = await openWaiting(rig)
    await rig.engine.apply({ kind: 'release', key: 'k', owner: 'holder' })
    await client.answer(1)
    await cut(rig, client)
    await rig.clock.advance(3 * GRACE_MS)
    expect(await rig.holders('k')).toEqual(['a'])
  })

  it('keeps what it holds in its session until the lease ends', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire('a', { session: client.session }))
    await client.answer(1)
    client.socket.close(1000)
    await client.closed
    await pass(rig.engine, rig.clock, TTL_MS - 1)
    expect(await rig.holders('k')).toEqual(['a'])
    await pass(rig.engine, rig.clock, 1)
    expect(await rig.holders('k')).toEqual([])
  })
})

describe('a good-bye', () => {
  it('ends at once what was held and waited for in the session', async () => {
    const rig = await openSessionRig()
    const client = await openWaiting(rig)
    client.ask(2, acquire('a', { key: 'in', session: client.session }))
    client.ask(3, acquire('a', { key: 'out' }))
    await client.answer(3)
    client.goodbye()
    expect((await client.closed).code).toBe(1000)
    expect(await rig.waiters('k')).toEqual([])
    expect(await rig.holders('in')).toEqual([])
    expect(await rig.holders('out')).toEqual(['a'])
    expect((await rig.engine.read({ kind: 'stats' })).sessions).toBe(0)
  })

  it('in the frame that opens the session ends that too, and nothing after it is done', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.say(
      [1, acquire('a', { session: client.session })],
      [0, { kind: 'goodbye' }],
      [2, acquire('late')],
      [3, { kind: 'watch', watch: 1 }],
    )
    expect((await client.closed).code).toBe(1000)
    const { holds, sessions, keys } = await rig.engine.read({ kind: 'stats' })
    expect([holds, sessions]).toEqual([0, 0])
    expect(keys).toBeLessThanOrEqual(1)
    const metrics = await (await fetch(`${rig.url}/metrics`)).text()
    expect(metrics).toMatch(/^holdfast_streams 0$/m)
  })
})

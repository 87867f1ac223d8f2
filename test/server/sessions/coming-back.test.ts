import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Acquire } from '../../../src/law/commands.ts'
import { CLOSE_CODES } from '../../../src/protocol/session/session-limits.ts'
import { LockServer } from '../../../src/server/lock-server.ts'
import { RawClient } from './raw-client.ts'
import { pass } from '../test-engine.ts'
import { GRACE_MS, openSessionRig, patience, type SessionRig } from './session-rig.ts'

/** The lease of what is held here. */
const TTL_MS = 60_000

function acquire(owner: string, fields: Partial<Acquire> = {}): Acquire {
  return { kind: 'acquire', key: 'k', owner, requestId: '1', ttlMs: TTL_MS, ...fields }
}

const forever = { waitMs: Number.POSITIVE_INFINITY }

describe('a client that comes back in time', () => {
  it('gets the answers that it has not received, and only those', async () => {
    const rig = await openSessionRig()
    const before = await rig.client()
    before.ask(1, acquire('a'))
    await before.hears('outcome', 1)
    before.confirm(1)
    before.ask(2, { kind: 'release', key: 'k', owner: 'a' })
    await before.hears('outcome', 2)
    before.cut()
    const after = await rig.client({ session: before.session, received: 1 })
    expect(after.welcome).toMatchObject({ resumed: true, lastId: 2 })
    await after.hears('outcome', 2)
    expect(after.heard.filter(([name]) => name === 'outcome')).toHaveLength(1)
  })

  it('has nothing done twice that it sends again', async () => {
    const rig = await openSessionRig()
    const before = await rig.client()
    before.ask(1, acquire('a'))
    before.ask(2, acquire('a', { requestId: '2' }))
    await before.hears('outcome', 2)
    before.cut()
    const after = await rig.client({ session: before.session })
    after.ask(1, acquire('a'))
    after.ask(2, acquire('a', { requestId: '2' }))
    after.ask(3, { kind: 'release', key: 'k', owner: 'a' })
    after.ask(3, { kind: 'release', key: 'k', owner: 'a' })
    expect(await after.hears('outcome', 3)).toMatchObject([
      'outcome',
      3,
      { kind: 'released', writes: 1 },
    ])
    expect(await rig.holders('k')).toEqual(['a'])
  })

  it('loses neither its place nor its holds, and the late close of the old connection means nothing', async () => {
    const rig = await openSessionRig()
    await rig.engine.apply(acquire('holder'))
    const before = await rig.client()
    before.ask(1, acquire('a', forever))
    before.ask(2, acquire('a', { key: 'mine', session: before.session }))
    await before.hears('outcome', 2)
    await patience.until(async () => (await rig.waiters('k')).length === 1, 'it waits')
    const after = await rig.client({ session: before.session })
    expect((await before.closed).code).toBe(CLOSE_CODES.superseded)
    await rig.clock.advance(GRACE_MS - 1)
    after.beat(1)
    await after.hears('beat')
    await rig.clock.advance(GRACE_MS - 1)
    expect(await rig.waiters('k')).toEqual(['a'])
    expect(await rig.holders('mine')).toEqual(['a'])
    await rig.engine.apply({ kind: 'release', key: 'k', owner: 'holder' })
    expect((await after.hears('outcome', 1))[2]).toMatchObject({ kind: 'granted' })
  })

  it('may do so several times in a row', async () => {
    const rig = await openSessionRig()
    await rig.engine.apply(acquire('holder'))
    let client = await rig.client()
    client.ask(1, acquire('a', forever))
    await patience.until(async () => (await rig.waiters('k')).length === 1, 'it waits')
    for (let round = 0; round < 5; round += 1) {
      const { session } = client
      if (round % 2 === 0) client.cut()
      client = await rig.client({ session })
      expect(client.welcome).toMatchObject({ resumed: true, lastId: 1 })
    }
    await rig.engine.apply({ kind: 'release', key: 'k', owner: 'holder' })
    await client.hears('outcome', 1)
    expect(await rig.holders('k')).toEqual(['a'])
  })
})

describe('a client that comes to a server that was restarted, and does not hear its welcome there', () => {
  /** It has heard two frames of the server before, and holds something in its session. */
  async function restart(clock: (rig: SessionRig) => Promise<void>): Promise<[LockServer, string]> {
    const rig = await openSessionRig()
    const before = await rig.client()
    const { session } = before
    before.ask(1, acquire('a', { session }))
    await before.hears('outcome', 1)
    await rig.server.close()
    await clock(rig)
    const { engine, clock: ofLeases } = rig
    const server = await LockServer.open({ engine, clock: ofLeases, sessionGraceMs: GRACE_MS })
    onTestFinished(() => server.close())
    const deaf = new RawClient(server.url)
    onTestFinished(() => deaf.cut())
    await once(deaf.socket, 'open')
    await deaf.greet({ session, received: 2 })
    deaf.cut()
    await deaf.closed
    return [server, session]
  }

  async function comeBack(server: LockServer, session: string): Promise<RawClient> {
    const client = await RawClient.open(server.url, { session, received: 2 })
    onTestFinished(() => client.cut())
    return client
  }

  it('is sent everything from the first frame on when it comes again', async () => {
    const [server, session] = await restart(async () => {})
    const client = await comeBack(server, session)
    expect(client.welcome).toMatchObject({ resumed: false, kept: true, lastId: 0 })
    client.ask(1, acquire('a', { session }))
    await client.hears('outcome', 1)
    expect(client.heard).toContainEqual(['frame', 1])
    const again = await comeBack(server, session)
    expect(again.welcome).toMatchObject({ resumed: true, kept: true, lastId: 1 })
  })

  it('is told when it comes again that its session had ended', async () => {
    const [server, session] = await restart((rig) => pass(rig.engine, rig.clock, TTL_MS + GRACE_MS))
    const client = await comeBack(server, session)
    expect(client.welcome).toMatchObject({ resumed: false, kept: false })
  })

  it('is not vouched for by another connection before', async () => {
    const [server, session] = await restart((rig) => pass(rig.engine, rig.clock, TTL_MS + GRACE_MS))
    const pulse = await RawClient.open(server.url, { session, pulse: true })
    onTestFinished(() => pulse.cut())
    pulse.beat(1)
    pulse.socket.ping()
    await once(pulse.socket, 'pong')
    expect(pulse.heard.filter(([name]) => name === 'beat')).toEqual([])
  })
})

describe('a client that does not come back', () => {
  it('keeps its place for the grace and not longer', async () => {
    const rig = await openSessionRig()
    await rig.engine.apply(acquire('holder'))
    const client = await rig.client()
    client.ask(1, acquire('a', forever))
    await patience.until(async () => (await rig.waiters('k')).length === 1, 'it waits')
    client.cut()
    await client.closed
    const other = await rig.client({ session: client.session })
    other.cut()
    await other.closed
    await patience.until(async () => {
      await rig.clock.advance(100)
      return (await rig.waiters('k')).length === 0
    }, 'it left')
    const { queueLength, holders } = await rig.engine.read({ kind: 'inspect', key: 'k' })
    expect(queueLength).toBe(0)
    expect(holders[0]?.heldMs).toBeGreaterThanOrEqual(GRACE_MS)
    const replay = await rig.engine.apply(acquire('a'))
    expect(replay).toMatchObject({ kind: 'refused', code: 'abandoned' })
    const late = await rig.client({ session: client.session })
    expect(late.welcome).toMatchObject({ resumed: false, kept: false, lastId: 0 })
  })

  it('gives back a grant that it never heard of', async () => {
    const rig = await openSessionRig()
    await rig.engine.apply(acquire('holder'))
    const client = await rig.client()
    client.ask(1, acquire('a', forever))
    await patience.until(async () => (await rig.waiters('k')).length === 1, 'it waits')
    const next = rig.engine.apply(acquire('b', forever))
    client.cut()
    await client.closed
    await rig.engine.apply({ kind: 'release', key: 'k', owner: 'holder' })
    expect(await rig.holders('k')).toEqual(['a'])
    await patience.until(async () => {
      await rig.clock.advance(500)
      return (await rig.holders('k'))[0] === 'b'
    }, 'the grant is undone and the next one is granted')
    expect(await next).toMatchObject({ kind: 'granted' })
  })

  it.each([true, false])(
    'keeps until its lease ends what it has heard of, where that is not in the session; confirmed: %s',
    async (isConfirmed) => {
      const rig = await openSessionRig()
      await rig.engine.apply(acquire('holder'))
      const client = await rig.client()
      client.ask(1, acquire('a', forever))
      await patience.until(async () => (await rig.waiters('k')).length === 1, 'it waits')
      await rig.engine.apply({ kind: 'release', key: 'k', owner: 'holder' })
      await client.hears('outcome', 1)
      if (isConfirmed) {
        client.confirm(1)
        client.beat(1)
        await client.hears('beat')
      }
      client.cut()
      await client.closed
      await rig.clock.advance(3 * GRACE_MS)
      expect(await rig.holders('k')).toEqual(['a'])
    },
  )
})

describe('a good-bye', () => {
  it('ends at once what was held and waited for in the session', async () => {
    const rig = await openSessionRig()
    await rig.engine.apply(acquire('holder'))
    const client = await rig.client()
    client.ask(1, acquire('a', forever))
    client.ask(2, acquire('a', { key: 'in', session: client.session }))
    client.ask(3, acquire('a', { key: 'out' }))
    await client.hears('outcome', 3)
    client.goodbye()
    expect((await client.closed).code).toBe(1000)
    expect(await rig.waiters('k')).toEqual([])
    expect(await rig.holders('in')).toEqual([])
    expect(await rig.holders('out')).toEqual(['a'])
    expect((await rig.engine.read({ kind: 'stats' })).sessions).toBe(0)
  })

  it('is not what a closed socket says', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire('a', { session: client.session }))
    await client.hears('outcome', 1)
    client.socket.close(1000)
    await client.closed
    await pass(rig.engine, rig.clock, TTL_MS - 1)
    expect(await rig.holders('k')).toEqual(['a'])
    await pass(rig.engine, rig.clock, 1)
    expect(await rig.holders('k')).toEqual([])
  })
})

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { CLOSE_CODES, SESSION_VERSION } from '../../../src/wire/session/session-limits.ts'
import { RawClient } from './raw-client.ts'
import { GRACE_MS, openSessionRig, patience } from './session-rig.ts'

const HELLO = { kind: 'hello', client: 'raw' } as const

async function connected(url: string): Promise<RawClient> {
  const client = new RawClient(url)
  await once(client.socket, 'open')
  return client
}

describe('a connection', () => {
  it('is welcomed with its session, the grace and the heartbeat', async () => {
    const rig = await openSessionRig()
    const { welcome } = await rig.client()
    const { durable, seesDeadlocks } = rig.engine.capabilities
    expect(welcome).toMatchObject({
      graceMs: GRACE_MS,
      heartbeatMs: GRACE_MS / 5,
      capabilities: { durable, seesDeadlocks },
    })
    expect(welcome?.session).toMatch(/^[0-9a-f]{32}$/)
  })

  it('of another version is refused politely', async () => {
    const rig = await openSessionRig()
    const client = await connected(rig.url)
    client.say([1, HELLO])
    expect(await client.closed).toEqual({
      code: CLOSE_CODES.version,
      reason: `this server speaks version ${SESSION_VERSION}`,
    })
  })

  it.each([
    ['that does not say hello first', Buffer.from([0x92, 0x02, 0x01])],
    ['that says hello twice', Buffer.from('93 01 03 a0 93 01 03 a0'.replaceAll(' ', ''), 'hex')],
    ['that talks nonsense', Buffer.from('c1ff', 'hex')],
    ['that talks in text', 'hello'],
  ])('%s is closed', async (_, frame) => {
    const rig = await openSessionRig()
    const client = await connected(rig.url)
    client.socket.send(frame)
    expect((await client.closed).code).toBe(CLOSE_CODES.protocol)
  })

  it('that says nothing is cut', async () => {
    const rig = await openSessionRig()
    const client = await connected(rig.url)
    await patience.until(async () => {
      await rig.socketClock.advance(1_000)
      return client.socket.readyState === client.socket.CLOSED
    }, 'the connection is cut')
    expect((await client.closed).code).toBe(1006)
  })

  it('for heartbeats needs a session that is there', async () => {
    const rig = await openSessionRig()
    const client = await connected(rig.url)
    client.say([SESSION_VERSION, { ...HELLO, session: 'f'.repeat(32), isHeartbeatOnly: true }])
    expect((await client.closed).code).toBe(CLOSE_CODES.unknownSession)
  })

  it('to another path is answered in HTTP', async () => {
    const rig = await openSessionRig()
    const client = new RawClient(`${rig.url}/elsewhere`)
    expect(await refusalOf(client)).toBe(404)
  })
})

describe('with auth on', () => {
  const digest = createHash('sha256').update('secret').digest()
  const tokens = [
    { principal: { name: 'team', role: 'client', prefixes: ['team/'] }, digests: [digest] },
  ] as const

  it('nobody is let in without a token', async () => {
    const rig = await openSessionRig({ tokens })
    for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
      const client = new RawClient(rig.url, headers)
      expect(await refusalOf(client)).toBe(401)
    }
  })

  it('names are those of the principal, and its own losses are told in its own words', async () => {
    const rig = await openSessionRig({ tokens })
    const client = await RawClient.open(rig.url, {}, { authorization: 'Bearer secret' })
    const acquire = {
      kind: 'acquire',
      owner: 'a',
      requestId: '1',
      session: client.session,
    } as const
    client.ask(1, { ...acquire, key: 'team/k' })
    client.ask(2, { ...acquire, key: 'other/k' })
    expect(await client.answer(1)).toMatchObject({ kind: 'granted' })
    expect(await client.answer(2)).toMatchObject({ code: 'LOCK_FORBIDDEN' })
    expect(await rig.holders('team/k')).toEqual(['team/a'])
    await rig.engine.apply({ kind: 'force', key: 'team/k' })
    expect(await client.hears('lost')).toMatchObject({ owner: 'a', end: 'forced' })
    client.cut()
  })

  it('a session belongs to the principal that opened it', async () => {
    const other = createHash('sha256').update('other').digest()
    const rig = await openSessionRig({
      tokens: [
        ...tokens,
        { principal: { name: 'spy', role: 'client', prefixes: undefined }, digests: [other] },
      ],
    })
    const client = await RawClient.open(rig.url, {}, { authorization: 'Bearer secret' })
    const { session } = client
    client.ask(1, { kind: 'acquire', key: 'team/k', owner: 'a', requestId: '1', session })
    await client.answer(1)
    const spy = await RawClient.open(rig.url, { session }, { authorization: 'Bearer other' })
    await rig.engine.apply({ kind: 'force', key: 'team/k' })
    await client.hears('lost')
    spy.heartbeat(1)
    expect(await spy.hears('heard')).toMatchObject({ losses: spy.welcome.losses })
    expect(spy.hasHeard('lost')).toBe(false)
    expect(client.socket.readyState).toBe(client.socket.OPEN)
    client.cut()
    spy.cut()
  })
})

function refusalOf(client: RawClient): Promise<number | undefined> {
  return new Promise((resolve) => {
    client.socket.on('unexpected-response', (_, response) => {
      resolve(response.statusCode)
      client.cut()
    })
  })
}

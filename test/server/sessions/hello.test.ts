import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { CLOSE_CODES } from '../../../src/protocol/session/session-limits.ts'
import { writeHello } from '../../../src/protocol/session/client-frames.ts'
import { RawClient } from './raw-client.ts'
import { GRACE_MS, openSessionRig, patience } from './session-rig.ts'

const HELLO = { version: 1, client: 'raw', session: undefined, received: 0, pulse: false }

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
      version: 1,
      graceMs: GRACE_MS,
      heartbeatMs: GRACE_MS / 5,
      resumed: false,
      kept: false,
      lastId: 0,
      capabilities: { durable, seesDeadlocks },
    })
    expect(welcome?.session).toMatch(/^[0-9a-f]{32}$/)
  })

  it('of another version is refused politely', async () => {
    const rig = await openSessionRig()
    const client = await connected(rig.url)
    client.say((writer) => writeHello(writer, { ...HELLO, version: 2 }))
    expect(await client.closed).toEqual({
      code: CLOSE_CODES.version,
      reason: 'this server speaks version 1',
    })
  })

  it.each([
    ['that does not say hello first', Buffer.from([0x92, 0x03, 0x01])],
    [
      'that says hello twice',
      Buffer.from('9601 01 a0 c0 00 c2 9601 01 a0 c0 00 c2'.replaceAll(' ', ''), 'hex'),
    ],
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

  it('that only vouches needs a session that is there', async () => {
    const rig = await openSessionRig()
    const client = await connected(rig.url)
    client.say((writer) => writeHello(writer, { ...HELLO, session: 'f'.repeat(32), pulse: true }))
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
    expect((await client.hears('outcome', 1))[2]).toMatchObject({ kind: 'granted' })
    expect((await client.hears('failure', 2))[2]).toMatchObject({ code: 'LOCK_FORBIDDEN' })
    expect(await rig.holders('team/k')).toEqual(['team/a'])
    await rig.engine.apply({ kind: 'force', key: 'team/k' })
    expect((await client.hears('lost'))[1]).toMatchObject({ owner: 'a', end: 'forced' })
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
    client.ask(1, { kind: 'sweep' })
    const spy = await RawClient.open(
      rig.url,
      { session: client.session },
      { authorization: 'Bearer other' },
    )
    expect(spy.welcome).toMatchObject({ resumed: false, kept: false, lastId: 0 })
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

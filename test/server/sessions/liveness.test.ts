import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Acquire } from '../../../src/law/commands.ts'
import { CLOSE_CODES } from '../../../src/protocol/session/session-limits.ts'
import { LockServer } from '../../../src/server/lock-server.ts'
import { RawClient } from './raw-client.ts'
import { GRACE_MS, openSessionRig, patience, type SessionRig } from './session-rig.ts'
import { pass as passInLeaps } from '../test-engine.ts'

const BEAT_MS = GRACE_MS / 5
/** The lease of what is held here. */
const TTL_MS = 20_000

function acquire(client: RawClient, key: string): Acquire {
  return {
    kind: 'acquire',
    key,
    owner: 'a',
    requestId: key,
    session: client.session,
    ttlMs: TTL_MS,
  }
}

/** Both clocks together, in steps, as they go in life. */
async function pass(rig: SessionRig, ms: number, onStep: () => Promise<void>): Promise<void> {
  for (let passed = 0; passed < ms; passed += BEAT_MS) {
    await rig.clock.advance(BEAT_MS)
    await rig.socketClock.advance(BEAT_MS)
    await onStep()
  }
}

describe('a session', () => {
  it('costs the engine nothing until something is asked for in it', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, { kind: 'acquire', key: 'k', owner: 'a', requestId: '1' })
    await client.hears('outcome', 1)
    expect((await rig.engine.read({ kind: 'stats' })).sessions).toBe(0)
    client.ask(2, acquire(client, 'in'))
    client.ask(3, acquire(client, 'in-too'))
    await client.hears('outcome', 3)
    expect((await rig.engine.read({ kind: 'stats' })).sessions).toBe(1)
  })

  it('that is heard of keeps what it holds past its lease', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire(client, 'k'))
    await client.hears('outcome', 1)
    let beats = 0
    await pass(rig, 60_000, async () => {
      beats += 1
      client.beat(beats)
      const sent = beats
      await patience.until(
        () => client.heard.some(([name, at]) => name === 'beat' && at === sent),
        'the heartbeat is confirmed',
      )
    })
    expect(await rig.holders('k')).toEqual(['a'])
  })

  it('whose client is silent with its socket open is dropped, and its hold ends with the lease', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire(client, 'k'))
    await client.hears('outcome', 1)
    const next = rig.engine.apply({
      kind: 'acquire',
      key: 'k',
      owner: 'b',
      requestId: '1',
      waitMs: 60_000,
    })
    await pass(rig, GRACE_MS + 3 * BEAT_MS, async () => {})
    expect((await client.closed).code).toBe(CLOSE_CODES.silent)
    expect(await rig.holders('k')).toEqual(['a'])
    await pass(rig, TTL_MS, async () => {})
    expect(await next).toMatchObject({ kind: 'granted', token: 2 })
  })

  it('is kept by another connection that vouches for it while the main one is silent', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire(client, 'k'))
    await client.hears('outcome', 1)
    const pulse = await rig.client({ session: client.session, pulse: true })
    let beats = 0
    await pass(rig, 4 * GRACE_MS, async () => {
      beats += 1
      pulse.beat(beats)
      const sent = beats
      await patience.until(
        () => pulse.heard.some(([name, at]) => name === 'beat' && at === sent),
        'the heartbeat is confirmed',
      )
    })
    expect(await rig.holders('k')).toEqual(['a'])
    expect(client.socket.readyState).toBe(client.socket.OPEN)
    pulse.cut()
    await pulse.closed
    client.ask(2, { kind: 'release', key: 'k', owner: 'a' })
    expect((await client.hears('outcome', 2))[2]).toMatchObject({ kind: 'released' })
  })

  it('that has ended is not vouched for elsewhere before its client has heard of the end', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire(client, 'k'))
    await client.hears('outcome', 1)
    const pulse = await rig.client({ session: client.session, pulse: true })
    await rig.engine.apply({ kind: 'close-session', session: client.session })
    await client.hears('over')
    pulse.beat(1)
    // The server answers a ping when it has read everything before.
    pulse.socket.ping()
    await once(pulse.socket, 'pong')
    client.confirm(100)
    client.ask(2, { kind: 'sweep' })
    await client.hears('outcome', 2)
    pulse.beat(2)
    await pulse.hears('beat', 2)
    expect(pulse.heard.filter(([name]) => name === 'beat')).toEqual([['beat', 2]])
  })

  it('that has ended does not begin anew, and is not kept by another server, before its client has heard of the end', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire(client, 'k'))
    await client.hears('outcome', 1)
    // It asks once more, and hears nothing of what is said meanwhile.
    client.socket.pause()
    await passInLeaps(rig.engine, rig.clock, TTL_MS + GRACE_MS)
    expect(await rig.holders('k')).toEqual([])
    client.ask(2, acquire(client, 'again'))
    await patience.until(() => client.socket.bufferedAmount === 0, 'it was sent')
    const witness = await rig.client()
    witness.ask(1, { kind: 'sweep' })
    await witness.hears('outcome', 1)
    await rig.server.close()
    client.cut()
    const next = await LockServer.open({ engine: rig.engine, clock: rig.clock })
    onTestFinished(() => next.close())
    const back = await RawClient.open(next.url, { session: client.session })
    onTestFinished(() => back.cut())
    expect(back.welcome).toMatchObject({ resumed: false, kept: false })
  })

  it('gets nothing and may ask nothing on a connection that only vouches', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    const pulse = await rig.client({ session: client.session, pulse: true })
    pulse.ask(1, { kind: 'sweep' })
    expect((await pulse.closed).code).toBe(CLOSE_CODES.protocol)
    client.ask(1, { kind: 'sweep' })
    await client.hears('outcome', 1)
  })

  it('is told at once of a hold that ended, by whom it was ended', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire(client, 'k'))
    await client.hears('outcome', 1)
    await rig.engine.apply({ kind: 'force', key: 'k' })
    expect((await client.hears('lost'))[1]).toEqual({
      namespace: 'lock',
      key: 'k',
      owner: 'a',
      token: 1,
      end: 'forced',
    })
  })

  it('that ended in the engine is told to be over, and can hold again', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire(client, 'k'))
    await client.hears('outcome', 1)
    // The server was stopped for longer than the lease, and nothing was read meanwhile.
    await passInLeaps(rig.engine, rig.clock, TTL_MS + GRACE_MS)
    client.ask(2, acquire(client, 'again'))
    await client.hears('over')
    client.confirm(100)
    expect((await client.hears('outcome', 2))[2]).toMatchObject({ kind: 'granted' })
    expect(await rig.holders('k')).toEqual([])
    expect(await rig.holders('again')).toEqual(['a'])
  })

  it('is not told that a heartbeat counts when it came too late', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire(client, 'k'))
    await client.hears('outcome', 1)
    await passInLeaps(rig.engine, rig.clock, TTL_MS + GRACE_MS)
    client.beat(7)
    await client.hears('over')
    expect(client.heard.filter(([name]) => name === 'beat')).toEqual([])
  })

  it('of a server that stops is told to come back, and loses nothing', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire(client, 'k'))
    await client.hears('outcome', 1)
    await rig.server.close()
    await client.hears('comeBack')
    expect((await client.closed).code).toBe(CLOSE_CODES.stopping)
    expect(await rig.holders('k')).toEqual(['a'])
  })
})

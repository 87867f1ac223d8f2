import { describe, expect, it, onTestFinished } from 'vitest'
import type { LockEngine, WatchListener } from '../../../src/engine/engine.ts'
import type { Acquire } from '../../../src/law/model/commands.ts'
import { CLOSE_CODES } from '../../../src/wire/session/session-limits.ts'
import { openTestEngine, pass as passInLeaps } from '../test-engine.ts'
import type { RawClient } from './raw-client.ts'
import { GRACE_MS, openSessionRig, patience, type SessionRig } from './session-rig.ts'

const BEAT_MS = GRACE_MS / 5
/** The lease of what is held here. */
const TTL_MS = 20_000

function acquire({ session }: RawClient, key: string): Acquire {
  return { kind: 'acquire', key, owner: 'a', requestId: key, session, ttlMs: TTL_MS }
}

/** Both clocks together, in steps, as they go in life. */
async function pass(rig: SessionRig, ms: number, onStep: () => Promise<void>): Promise<void> {
  for (let passed = 0; passed < ms; passed += BEAT_MS) {
    await rig.clock.advance(BEAT_MS)
    await rig.socketClock.advance(BEAT_MS)
    await onStep()
  }
}

/** Sends a heartbeat with each call, and waits until it counts. */
function beating(client: RawClient): () => Promise<void> {
  let beats = 0
  return async () => {
    beats += 1
    client.heartbeat(beats)
    await client.hears('heard', beats)
  }
}

describe('a session', () => {
  it('costs the engine nothing until something is asked for in it', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, { kind: 'acquire', key: 'k', owner: 'a', requestId: '1' })
    await client.answer(1)
    client.heartbeat(1)
    await client.hears('heard', 1)
    expect((await rig.engine.read({ kind: 'stats' })).sessions).toBe(0)
    client.ask(2, acquire(client, 'in'))
    client.ask(3, acquire(client, 'in-too'))
    await client.answer(3)
    expect((await rig.engine.read({ kind: 'stats' })).sessions).toBe(1)
  })

  it('whose client sends heartbeats keeps what it holds past its lease', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire(client, 'k'))
    await client.answer(1)
    await pass(rig, 3 * TTL_MS, beating(client))
    expect(await rig.holders('k')).toEqual(['a'])
  })

  it('whose client is silent with its socket open is dropped, and its hold ends with the lease', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire(client, 'k'))
    await client.answer(1)
    const waitMs = 60_000
    const asked = { kind: 'acquire', key: 'k', owner: 'b', requestId: '1', waitMs } as const
    const next = rig.engine.apply(asked)
    await pass(rig, GRACE_MS + 3 * BEAT_MS, async () => {})
    expect((await client.closed).code).toBe(CLOSE_CODES.silent)
    expect(await rig.holders('k')).toEqual(['a'])
    await pass(rig, TTL_MS, async () => {})
    expect(await next).toMatchObject({ kind: 'granted', token: 2 })
  })

  it('whose client is silent loses its places after the grace', async () => {
    const rig = await openSessionRig()
    await rig.engine.apply({ kind: 'acquire', key: 'k', owner: 'x', requestId: '1' })
    const client = await rig.client()
    client.ask(1, { ...acquire(client, 'k'), waitMs: Number.POSITIVE_INFINITY })
    await patience.until(async () => (await rig.waiters('k')).length === 1, 'it waits')
    await pass(rig, GRACE_MS + 3 * BEAT_MS, async () => {})
    expect(await rig.waiters('k')).toEqual([])
  })

  it('is kept by heartbeats on another connection while the main one is silent', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire(client, 'k'))
    await client.answer(1)
    const other = await rig.client({ session: client.session, isHeartbeatOnly: true })
    expect(other.welcome.losses).toBe(client.welcome.losses)
    await pass(rig, 2 * TTL_MS, beating(other))
    expect(await rig.holders('k')).toEqual(['a'])
    expect(client.socket.readyState).toBe(client.socket.OPEN)
    other.cut()
    await other.closed
    client.ask(2, { kind: 'release', key: 'k', owner: 'a' })
    expect(await client.answer(2)).toMatchObject({ kind: 'released' })
  })

  it('gets nothing and may ask nothing on a connection for heartbeats', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    const other = await rig.client({ session: client.session, isHeartbeatOnly: true })
    other.ask(1, { kind: 'sweep' })
    expect((await other.closed).code).toBe(CLOSE_CODES.protocol)
    client.ask(1, { kind: 'sweep' })
    await client.answer(1)
  })

  it('is told at once of a hold that ended, who ended it, and counts that with every heartbeat', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    const other = await rig.client({ session: client.session, isHeartbeatOnly: true })
    client.ask(1, acquire(client, 'k'))
    await client.answer(1)
    await rig.engine.apply({ kind: 'force', key: 'k' })
    expect(await client.hears('lost')).toEqual({
      kind: 'lost',
      namespace: 'lock',
      key: 'k',
      owner: 'a',
      token: 1,
      end: 'forced',
    })
    const losses = client.welcome.losses + 1
    other.heartbeat(1)
    expect(await other.hears('heard', 1)).toMatchObject({ losses })
    client.heartbeat(2)
    expect(await client.hears('heard', 2)).toMatchObject({ losses })
    expect(other.hasHeard('lost')).toBe(false)
  })

  it('that ended in the engine can hold again, and its client is told that it may have lost anything', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire(client, 'k'))
    await client.answer(1)
    // The server was stopped for longer than the lease, and nothing was read meanwhile.
    await passInLeaps(rig.engine, rig.clock, TTL_MS + GRACE_MS)
    client.ask(2, acquire(client, 'again'))
    client.ask(3, acquire(client, 'and again'))
    expect(await client.answer(2)).toMatchObject({ kind: 'granted' })
    expect(await client.answer(3)).toMatchObject({ kind: 'granted' })
    expect(client.heard.some(([, message]) => isUnknownLoss(message))).toBe(true)
    expect(await rig.holders('k')).toEqual([])
    expect(await rig.holders('again')).toEqual(['a'])
  })

  it('is not told that a heartbeat counts when it came too late', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire(client, 'k'))
    await client.answer(1)
    await passInLeaps(rig.engine, rig.clock, TTL_MS + GRACE_MS)
    client.heartbeat(7)
    await patience.until(
      () => client.heard.some(([, message]) => isUnknownLoss(message)),
      'it is told that it may have lost anything',
    )
    expect(client.hasHeard('heard')).toBe(false)
  })

  it('is told that it may have lost anything when its engine has lost track', async () => {
    const store = await openTestEngine()
    onTestFinished(() => store.close())
    let tell: WatchListener = () => {}
    const watch: LockEngine['watch'] = async (filter, listener) => {
      tell = listener
      return store.watch(filter, listener)
    }
    const engine = new Proxy(store, {
      get: (target, name) => {
        const value: unknown = name === 'watch' ? watch : Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const rig = await openSessionRig({ engine })
    const client = await rig.client()
    client.ask(1, acquire(client, 'k'))
    await client.answer(1)
    tell({ kind: 'reset', id: 1, atMs: 1 })
    await client.hears('lost')
    expect(client.heard.filter(([, message]) => isUnknownLoss(message))).toHaveLength(1)
    client.heartbeat(1)
    expect(await client.hears('heard', 1)).toMatchObject({ losses: client.welcome.losses + 1 })
  })

  it('of a server that stops is told to come back, and loses nothing', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.ask(1, acquire(client, 'k'))
    await client.answer(1)
    await rig.server.close()
    expect(await client.closed).toEqual({ code: CLOSE_CODES.stopping, reason: 'come back' })
    expect(await rig.holders('k')).toEqual(['a'])
  })
})

function isUnknownLoss(message: { readonly kind: string; readonly key?: unknown }): boolean {
  return message.kind === 'lost' && message.key === undefined
}

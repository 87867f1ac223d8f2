import assert from 'node:assert/strict'
import { asGranted, asQueued, asRefused } from '../answers.ts'
import { type EngineRig, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

const GRACE_MS = 20_000
const LONG_MS = 20 * GRACE_MS

const touch = (rig: EngineRig, session = 's') => rig.apply({ kind: 'touch-session', session })
const close = (rig: EngineRig, session = 's') => rig.apply({ kind: 'close-session', session })

/** Heartbeats renew the holds of a session; a silent client loses its places with the grace, and its holds with their leases. */
export const sessionsSuite: EngineSuite = {
  name: 'sessions',
  tests: [
    engineTest('a session is opened once and resumed after', async (rig) => {
      const opened = await rig.openSession('s', GRACE_MS)
      assert.deepEqual(opened, { kind: 'session-opened', resumed: false })
      const again = await rig.openSession('s', GRACE_MS)
      assert.deepEqual(again, { kind: 'session-opened', resumed: true })
      assert.equal((await rig.stats()).sessions, 1)
    }),

    engineTest('nothing is granted in a session that is not there', async (rig) => {
      await rig.refuse('a', 'no_session', { session: 'nobody' })
      asRefused(await rig.begin('pull', 'n1', { session: 'nobody' }), 'no_session')
      asRefused(await touch(rig, 'nobody'), 'no_session')
      asRefused(await close(rig, 'nobody'), 'no_session')
      assert.deepEqual(await rig.holders(), [])
    }),

    engineTest('a waiter of a silent client leaves the queue after the grace', async (rig) => {
      await rig.openSession('s', GRACE_MS)
      await rig.grant('other', { key: 'busy', ttlMs: LONG_MS })
      const waiting = await rig.wait('a', { key: 'busy', session: 's' })
      const next = await rig.wait('b', { key: 'busy' })
      await rig.advance(GRACE_MS / 2)
      assert.deepEqual(await rig.waiters('busy'), ['a', 'b'])
      await rig.advance(GRACE_MS)
      asRefused(await waiting.answer(), 'disconnected')
      await rig.release('other', { key: 'busy' })
      asGranted(await next.answer())
      asRefused(await touch(rig), 'no_session')
      assert.equal((await rig.stats()).sessions, 0)
    }),

    engineTest('a silent client keeps each hold until its own lease runs out', async (rig) => {
      await rig.openSession('s', GRACE_MS)
      const { token } = await rig.grant('a', { session: 's', ttlMs: 3 * GRACE_MS, requestId: '1' })
      await rig.grant('a', { key: 'long', session: 's', ttlMs: LONG_MS })
      await rig.grant('other', { key: 'busy', ttlMs: LONG_MS })
      const waiting = await rig.wait('a', { key: 'busy', session: 's' })
      const next = await rig.wait('b')
      await rig.advance(2 * GRACE_MS)
      asRefused(await waiting.answer(), 'disconnected')
      assert.equal((await rig.inspect()).holders[0]?.token, token)
      assert.equal((await rig.stats()).sessions, 1)
      await rig.advance(2 * GRACE_MS)
      asGranted(await next.answer())
      const replay = await rig.refuse('a', 'ended', { requestId: '1' })
      assert.equal(replay.end, 'expired')
      assert.deepEqual(await rig.holders('long'), ['a'])
    }),

    engineTest('a client that returns after the grace still has its holds', async (rig) => {
      await rig.openSession('s', GRACE_MS)
      const { token } = await rig.grant('a', { session: 's', ttlMs: 3 * GRACE_MS })
      await rig.advance(2.5 * GRACE_MS)
      const back = await rig.openSession('s', GRACE_MS)
      assert.deepEqual(back, { kind: 'session-opened', resumed: true })
      await rig.advance(2.5 * GRACE_MS)
      assert.equal((await rig.inspect()).holders[0]?.token, token)
      await rig.advance(GRACE_MS)
      assert.deepEqual(await rig.holders(), [])
    }),

    engineTest('a session of a silent client ends with its last hold', async (rig) => {
      await rig.openSession('s', GRACE_MS)
      await rig.grant('a', { session: 's', ttlMs: 2 * GRACE_MS })
      await rig.grant('a', { key: 'other', session: 's', ttlMs: 4 * GRACE_MS })
      await rig.advance(3 * GRACE_MS)
      assert.deepEqual(await touch(rig), { kind: 'session-touched' })
      await rig.advance(5 * GRACE_MS)
      assert.deepEqual(await rig.holders('other'), [])
      asRefused(await touch(rig), 'no_session')
      assert.equal((await rig.stats()).sessions, 0)
    }),

    engineTest('a silent client whose last hold is released has no session', async (rig) => {
      await rig.openSession('s', GRACE_MS)
      const requestId = 'late'
      await rig.grant('a', { session: 's', ttlMs: LONG_MS })
      await rig.advance(2 * GRACE_MS)
      await rig.release('a', { requestId })
      await rig.advance(LONG_MS)
      asRefused(await touch(rig), 'no_session')
      assert.equal((await rig.stats()).sessions, 0)
    }),

    engineTest('a heartbeat renews every hold for its own ttl', async (rig) => {
      await rig.openSession('s', GRACE_MS)
      await rig.grant('a', { session: 's', ttlMs: TTL_MS })
      await rig.grant('a', { key: 'long', session: 's', ttlMs: LONG_MS })
      for (let round = 0; round < 8; round += 1) {
        await rig.advance(TTL_MS / 2)
        assert.deepEqual(await touch(rig), { kind: 'session-touched' })
      }
      assert.deepEqual(await rig.holders(), ['a'])
      const left = async (key?: string): Promise<number> =>
        (await rig.inspect(key)).holders[0]?.leaseMs ?? 0
      rig.assertLeft(await left(), TTL_MS)
      rig.assertLeft(await left('long'), LONG_MS)
      await rig.refuse('b', 'held')
    }),

    engineTest('a hold of a silent client ends with its lease, before the grace', async (rig) => {
      await rig.openSession('s', 4 * TTL_MS)
      await rig.grant('a', { session: 's', ttlMs: TTL_MS })
      await rig.advance(2 * TTL_MS)
      await touch(rig)
      assert.deepEqual(await rig.holders(), [])
      await rig.grant('b')
    }),

    engineTest('a stream session ends with the grace, and its holds with it', async (rig) => {
      await rig.openSession('s', GRACE_MS, false)
      await rig.grant('a', { session: 's', ttlMs: LONG_MS, requestId: '1' })
      await rig.grant('other', { key: 'busy', ttlMs: LONG_MS })
      const waiting = await rig.wait('a', { key: 'busy', session: 's' })
      const next = await rig.wait('b')
      await rig.advance(GRACE_MS / 2)
      assert.deepEqual(await rig.holders(), ['a'])
      await rig.advance(GRACE_MS)
      asGranted(await next.answer())
      asRefused(await waiting.answer(), 'disconnected')
      const replay = await rig.refuse('a', 'ended', { requestId: '1' })
      assert.equal(replay.end, 'disconnected')
      asRefused(await touch(rig), 'no_session')
      assert.equal((await rig.stats()).sessions, 0)
    }),

    engineTest('the heartbeats of a stream session renew no lease', async (rig) => {
      await rig.openSession('s', GRACE_MS, false)
      await rig.grant('a', { session: 's', ttlMs: TTL_MS })
      await rig.advance(0.75 * TTL_MS)
      await touch(rig)
      await rig.advance(0.75 * TTL_MS)
      assert.deepEqual(await rig.holders(), [])
      assert.equal((await rig.openSession('s', GRACE_MS, false)).kind, 'session-opened')
    }),

    engineTest('a client that comes back in time loses nothing', async (rig) => {
      await rig.openSession('s', GRACE_MS)
      const { token } = await rig.grant('a', { session: 's', ttlMs: LONG_MS })
      await rig.grant('other', { key: 'busy', ttlMs: LONG_MS })
      await rig.wait('a', { key: 'busy', session: 's' })
      await rig.advance(0.75 * GRACE_MS)
      const back = await rig.openSession('s', GRACE_MS)
      assert.deepEqual(back, { kind: 'session-opened', resumed: true })
      await rig.advance(0.75 * GRACE_MS)
      assert.equal((await rig.inspect()).holders[0]?.token, token)
      assert.deepEqual(await rig.waiters('busy'), ['a'])
    }),

    engineTest('a spoken good-bye ends a session at once', async (rig) => {
      await rig.openSession('s', GRACE_MS)
      await rig.grant('a', { session: 's' })
      await rig.grant('a', { session: 's', key: 'other' })
      await rig.grant('b', { key: 'busy' })
      const waiting = await rig.wait('a', { session: 's', key: 'busy' })
      const next = await rig.wait('c')
      assert.deepEqual(await close(rig), { kind: 'session-closed', ended: 3 })
      asGranted(await next.answer())
      asRefused(await waiting.answer(), 'disconnected')
      assert.deepEqual(await rig.holders('other'), [])
      asRefused(await touch(rig), 'no_session')
    }),

    engineTest('a session ends only what is its own', async (rig) => {
      await rig.openSession('s', GRACE_MS)
      await rig.openSession('t', GRACE_MS)
      await rig.grant('a', { session: 's', mode: 'read' })
      await rig.grant('b', { session: 't', mode: 'read' })
      await rig.grant('c', { mode: 'read' })
      await close(rig)
      assert.deepEqual(await rig.holders(), ['b', 'c'])
      assert.equal((await rig.stats()).sessions, 1)
    }),

    engineTest('a session that ended comes back empty', async (rig) => {
      await rig.openSession('s', GRACE_MS)
      await rig.grant('a', { session: 's' })
      await close(rig)
      const opened = await rig.openSession('s', GRACE_MS)
      assert.deepEqual(opened, { kind: 'session-opened', resumed: false })
      assert.deepEqual(await rig.holders(), [])
      await touch(rig)
      assert.deepEqual(await rig.holders(), [])
    }),

    engineTest(
      'a waiter in a session keeps its place while the session lives',
      { settings: { waiterPatienceMs: 2 * GRACE_MS } },
      async (rig) => {
        await rig.openSession('s', GRACE_MS)
        await rig.grant('holder', { ttlMs: LONG_MS })
        await rig.queue('a', { session: 's', requestId: '1' })
        for (let round = 0; round < 6; round += 1) {
          await rig.advance(0.75 * GRACE_MS)
          await touch(rig)
        }
        assert.deepEqual(await rig.waiters(), ['a'])
      },
    ),

    engineTest(
      'a waiter in a session need not claim its grant',
      { settings: { claimWindowMs: TTL_MS } },
      async (rig) => {
        await rig.openSession('s', 10 * TTL_MS)
        await rig.grant('holder')
        await rig.queue('a', { session: 's', ttlMs: LONG_MS })
        await rig.release('holder')
        await rig.advance(2 * TTL_MS)
        assert.deepEqual(await rig.holders(), ['a'])
      },
    ),

    engineTest('an operation ends with its session, and nobody skips it', async (rig) => {
      await rig.openSession('s', GRACE_MS)
      asGranted(await rig.begin('pull', 'n1', { session: 's' }))
      await rig.openSession('t', GRACE_MS)
      asQueued(await rig.begin('pull', 'n2', { session: 't' }))
      const third = await rig.waitToBegin('pull', 'n3')
      await close(rig, 't')
      assert.equal((await rig.inspectResource()).queueLength, 1)
      await close(rig, 's')
      asGranted(await third.answer())
      asRefused(await rig.succeed('pull', 'n1'), 'not_holder')
      assert.deepEqual(await rig.references(), [])
    }),

    engineTest('a hold keeps the session it was taken in', async (rig) => {
      await rig.openSession('s', GRACE_MS)
      await rig.grant('a', { session: 's' })
      assert.equal((await rig.inspect()).holders[0]?.session, 's')
      await rig.wait('b', { session: 's' })
      assert.equal((await rig.inspect()).queue[0]?.session, 's')
    }),
  ],
}

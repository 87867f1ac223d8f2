import assert from 'node:assert/strict'
import { asGranted, asRefused } from '../answers.ts'
import { type EngineRig, KEY, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

async function leftOf(rig: EngineRig, owner: string): Promise<number> {
  const { holders } = await rig.inspect()
  return holders.find((holder) => holder.owner === owner)?.leaseMs ?? 0
}

/** A renewal makes a lease later; it never shortens it and never revives it. */
export const renewalSuite: EngineSuite = {
  name: 'renewal',
  tests: [
    engineTest('a renewed hold outlives its first lease', async (rig) => {
      const { token } = await rig.grant('a')
      for (let round = 0; round < 4; round += 1) {
        await rig.advance(TTL_MS / 2)
        const renewed = await rig.renew('a')
        if (renewed.kind !== 'renewed') assert.fail(JSON.stringify(renewed))
        assert.equal(renewed.token, token)
        rig.assertLeft(renewed.leaseMs, TTL_MS)
      }
      await rig.refuse('b', 'held')
      await rig.advance(1.5 * TTL_MS)
      await rig.grant('b')
    }),

    engineTest('a renewal never shortens a lease', async (rig) => {
      await rig.grant('a', { ttlMs: 4 * TTL_MS })
      const renewed = await rig.renew('a', TTL_MS)
      if (renewed.kind !== 'renewed') assert.fail(JSON.stringify(renewed))
      rig.assertLeft(renewed.leaseMs, 4 * TTL_MS)
      await rig.advance(2 * TTL_MS)
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('a renewal does not revive a hold that has expired', async (rig) => {
      const { token } = await rig.grant('a')
      await rig.advance(1.5 * TTL_MS)
      asRefused(await rig.renew('a', TTL_MS, { token }), 'not_holder')
      assert.deepEqual(await rig.holders(), [])
      await rig.grant('b')
    }),

    engineTest('who is refused as a stranger learns how its hold ended', async (rig) => {
      await rig.grant('a')
      await rig.apply({ kind: 'force', key: KEY })
      assert.equal(asRefused(await rig.renew('a'), 'not_holder').end, 'forced')
      assert.equal(asRefused(await rig.release('a'), 'not_holder').end, 'forced')
      await rig.grant('a')
      await rig.advance(1.5 * TTL_MS)
      assert.equal(asRefused(await rig.renew('a'), 'not_holder').end, 'expired')
      await rig.openSession('s', TTL_MS)
      await rig.grant('a', { session: 's' })
      await rig.apply({ kind: 'close-session', session: 's' })
      assert.equal(asRefused(await rig.renew('a'), 'not_holder').end, 'disconnected')
      assert.equal(asRefused(await rig.renew('b'), 'not_holder').end, undefined)
    }),

    engineTest('a renewal by who lost the lock leaves the new holder alone', async (rig) => {
      const { token } = await rig.grant('a')
      await rig.advance(1.5 * TTL_MS)
      await rig.grant('b', { ttlMs: TTL_MS })
      asRefused(await rig.renew('a', 10 * TTL_MS, { token }), 'not_holder')
      rig.assertLeft(await leftOf(rig, 'b'), TTL_MS)
      assert.deepEqual(await rig.holders(), ['b'])
    }),

    engineTest('a renewal with an earlier token is refused and changes nothing', async (rig) => {
      const { token } = await rig.grant('a')
      await rig.release('a')
      const later = await rig.grant('a')
      asRefused(await rig.renew('a', 5 * TTL_MS, { token }), 'stale_token')
      rig.assertLeft(await leftOf(rig, 'a'), TTL_MS)
      assert.equal((await rig.renew('a', TTL_MS, { token: later.token })).kind, 'renewed')
    }),

    engineTest('only a holder can renew', async (rig) => {
      asRefused(await rig.renew('a'), 'not_holder')
      await rig.grant('a')
      await rig.wait('b')
      asRefused(await rig.renew('b'), 'not_holder')
      asRefused(await rig.renew('c'), 'not_holder')
      assert.deepEqual(await rig.waiters(), ['b'])
    }),

    engineTest('renewing one reader does not renew another', async (rig) => {
      await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      await rig.renew('a', 4 * TTL_MS)
      await rig.advance(2 * TTL_MS)
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('a renewal changes neither the counts nor the token', async (rig) => {
      await rig.grant('a')
      await rig.grant('a', { mode: 'read' })
      const before = (await rig.inspect()).holders[0]
      await rig.renew('a', 2 * TTL_MS)
      const after = (await rig.inspect()).holders[0]
      assert.deepEqual(
        [after?.reads, after?.writes, after?.token],
        [before?.reads, before?.writes, before?.token],
      )
      assert.deepEqual([after?.reads, after?.writes], [1, 1])
    }),

    engineTest('a waiter behind a renewed hold goes on waiting', async (rig) => {
      await rig.grant('a')
      const wait = await rig.wait('b')
      await rig.advance(TTL_MS / 2)
      await rig.renew('a', 2 * TTL_MS)
      await rig.advance(TTL_MS)
      assert.deepEqual(await rig.holders(), ['a'])
      assert.ok(wait.isOpen, 'the lease was renewed')
      await rig.advance(1.5 * TTL_MS)
      asGranted(await wait.answer())
    }),

    engineTest('asking again for a running operation renews its lease', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      await rig.advance(TTL_MS / 2)
      rig.assertLeft(asGranted(await rig.begin('pull', 'n1')).leaseMs, TTL_MS)
      await rig.advance(0.8 * TTL_MS)
      assert.equal((await rig.succeed('pull', 'n1')).kind, 'finished')
    }),
  ],
}

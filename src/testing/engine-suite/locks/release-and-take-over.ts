import assert from 'node:assert/strict'
import { asGranted, asRefused } from '../answers.ts'
import { KEY, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

/** Only the holder can give a lock up, and who lost it cannot give up what another took over. */
export const releaseAndTakeOverSuite: EngineSuite = {
  name: 'release and take-over',
  tests: [
    engineTest('a release frees the lock', async (rig) => {
      await rig.grant('a')
      assert.deepEqual(await rig.release('a'), { kind: 'released', reads: 0, writes: 0 })
      assert.deepEqual(await rig.holders(), [])
      await rig.grant('b')
    }),

    engineTest('who does not hold a lock cannot release it', async (rig) => {
      const { token } = await rig.grant('a')
      asRefused(await rig.release('b'), 'not_holder')
      asRefused(await rig.release('b', { token }), 'not_holder')
      asRefused(await rig.release('a', { key: 'another' }), 'not_holder')
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('a waiter cannot release what it waits for', async (rig) => {
      await rig.grant('a')
      const wait = await rig.wait('b')
      asRefused(await rig.release('b'), 'not_holder')
      assert.ok(wait.isOpen, 'it still waits')
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('a second release finds nothing to release', async (rig) => {
      await rig.grant('a')
      await rig.release('a')
      asRefused(await rig.release('a'), 'not_holder')
      const { reads, writes } = await rig.grant('a')
      assert.deepEqual([reads, writes], [0, 1])
    }),

    engineTest('a release in a mode that is not held changes nothing', async (rig) => {
      await rig.grant('r', { mode: 'read' })
      asRefused(await rig.release('r', { mode: 'write' }), 'not_holder')
      await rig.grant('w', { key: 'other' })
      asRefused(await rig.release('w', { key: 'other', mode: 'read' }), 'not_holder')
      assert.deepEqual(await rig.holders(), ['r'])
      assert.deepEqual(await rig.holders('other'), ['w'])
    }),

    engineTest('a stale owner cannot release a lock it lost', async (rig) => {
      const { token } = await rig.grant('a')
      await rig.advance(1.5 * TTL_MS)
      await rig.grant('b')
      asRefused(await rig.release('a'), 'not_holder')
      asRefused(await rig.release('a', { token }), 'not_holder')
      assert.deepEqual(await rig.holders(), ['b'])
    }),

    engineTest('an earlier token of the same owner cannot release its later hold', async (rig) => {
      const { token } = await rig.grant('a')
      await rig.advance(1.5 * TTL_MS)
      await rig.grant('a')
      asRefused(await rig.release('a', { token }), 'stale_token')
      asRefused(await rig.release('a', { token: token + 1_000 }), 'stale_token')
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('a token from before an upgrade is stale after it', async (rig) => {
      const { token } = await rig.grant('a', { mode: 'read' })
      const upgraded = await rig.grant('a', { mode: 'write' })
      asRefused(await rig.release('a', { token }), 'stale_token')
      assert.deepEqual(await rig.release('a', { token: upgraded.token }), {
        kind: 'released',
        reads: 1,
        writes: 0,
      })
    }),

    engineTest('an expired lock is taken over by exactly one', async (rig) => {
      await rig.grant('dead')
      await rig.advance(1.5 * TTL_MS)
      const owners = Array.from({ length: 20 }, (_, index) => `owner-${index}`)
      const outcomes = await Promise.all(owners.map((owner) => rig.acquire(owner)))
      assert.equal(outcomes.filter(({ kind }) => kind === 'granted').length, 1)
      assert.equal((await rig.holders()).length, 1)
    }),

    engineTest('an operator ends the hold of one owner', async (rig) => {
      await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      const forced = await rig.apply({ kind: 'force', key: KEY, owner: 'a' })
      assert.deepEqual(forced, { kind: 'forced', count: 1 })
      assert.deepEqual(await rig.holders(), ['b'])
      asRefused(await rig.release('a'), 'not_holder')
    }),

    engineTest('an operator ends every hold, and the next waiter is granted', async (rig) => {
      await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      const wait = await rig.wait('w')
      assert.deepEqual(await rig.apply({ kind: 'force', key: KEY }), { kind: 'forced', count: 2 })
      asGranted(await wait.answer())
      asRefused(await rig.renew('a'), 'not_holder')
      assert.deepEqual(await rig.holders(), ['w'])
    }),

    engineTest('an operator finds nothing to end on a free lock', async (rig) => {
      await rig.grant('a')
      const stranger = await rig.apply({ kind: 'force', key: KEY, owner: 'b' })
      assert.deepEqual(stranger, { kind: 'forced', count: 0 })
      const free = await rig.apply({ kind: 'force', key: 'free' })
      assert.deepEqual(free, { kind: 'forced', count: 0 })
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('an operator ends an operation', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      const next = await rig.waitToBegin('pull', 'n2')
      const forced = await rig.apply({ kind: 'force', key: 'layer', namespace: 'operation' })
      assert.deepEqual(forced, { kind: 'forced', count: 1 })
      asGranted(await next.answer())
      asRefused(await rig.succeed('pull', 'n1'), 'not_holder')
    }),
  ],
}

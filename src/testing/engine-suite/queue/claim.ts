import assert from 'node:assert/strict'
import { asGranted, asQueued, asRefused } from '../answers.ts'
import { type EngineRig, RESOURCE, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

const CLAIM_MS = 10_000
const PATIENCE_MS = 90_000
const SETTINGS = { claimWindowMs: CLAIM_MS, waiterPatienceMs: PATIENCE_MS }
const OPTIONS = { settings: SETTINGS }
const LONG_MS = 30 * TTL_MS

/** A waiter that only asks now and then, and is granted while it does not ask. */
async function grantUnasked(rig: EngineRig, owner: string, requestId: string): Promise<void> {
  await rig.grant('holder')
  await rig.queue(owner, { requestId, ttlMs: LONG_MS })
  await rig.release('holder')
  assert.deepEqual(await rig.holders(), [owner])
}

/** Who only asks now and then keeps its place by asking, and has a while to take its grant. */
export const claimSuite: EngineSuite = {
  name: 'claim',
  tests: [
    engineTest('a detached request is answered with its place', OPTIONS, async (rig) => {
      await rig.grant('holder')
      assert.equal(await rig.queue('a'), 1)
      assert.equal(await rig.queue('b'), 2)
      assert.deepEqual(await rig.waiters(), ['a', 'b'])
    }),

    engineTest('a detached request for a free lock is granted', OPTIONS, async (rig) => {
      asGranted(await rig.acquire('a', { waitMs: Infinity, detach: true }))
    }),

    engineTest('asking again tells of the grant', OPTIONS, async (rig) => {
      await grantUnasked(rig, 'a', '1')
      const shown = (await rig.inspect()).holders[0]
      const asked = asGranted(
        await rig.acquire('a', { requestId: '1', waitMs: Infinity, detach: true }),
      )
      assert.equal(asked.token, shown?.token)
      assert.deepEqual([asked.reads, asked.writes], [0, 1])
    }),

    engineTest('a grant that nobody takes goes to the next', OPTIONS, async (rig) => {
      await grantUnasked(rig, 'a', '1')
      const next = await rig.wait('b')
      await rig.advance(CLAIM_MS / 2)
      assert.ok(next.isOpen, 'it can still be taken')
      await rig.advance(CLAIM_MS)
      asGranted(await next.answer())
      assert.deepEqual(await rig.holders(), ['b'])
    }),

    engineTest('who comes too late for its grant is told so', OPTIONS, async (rig) => {
      await grantUnasked(rig, 'a', '1')
      await rig.advance(1.5 * CLAIM_MS)
      assert.deepEqual(await rig.holders(), [])
      const late = await rig.refuse('a', 'ended', {
        requestId: '1',
        waitMs: Infinity,
        detach: true,
      })
      assert.equal(late.end, 'unclaimed')
      assert.deepEqual(await rig.holders(), [])
    }),

    engineTest('a grant is taken by asking', OPTIONS, async (rig) => {
      await grantUnasked(rig, 'a', '1')
      asGranted(await rig.acquire('a', { requestId: '1', waitMs: Infinity, detach: true }))
      await rig.advance(2 * CLAIM_MS)
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('a grant is taken by renewing', OPTIONS, async (rig) => {
      await grantUnasked(rig, 'a', '1')
      await rig.renew('a', LONG_MS)
      await rig.advance(2 * CLAIM_MS)
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('a grant is taken by releasing', OPTIONS, async (rig) => {
      await grantUnasked(rig, 'a', '1')
      assert.equal((await rig.release('a')).kind, 'released')
      const late = await rig.refuse('a', 'ended', { requestId: '1' })
      assert.equal(late.end, 'released')
    }),

    engineTest('a dead head costs the queue its claim window and no more', OPTIONS, async (rig) => {
      await rig.grant('holder')
      await rig.queue('dead-1', { ttlMs: LONG_MS })
      await rig.queue('dead-2', { ttlMs: LONG_MS })
      const alive = await rig.wait('alive')
      await rig.release('holder')
      await rig.advance(1.25 * CLAIM_MS)
      assert.deepEqual(await rig.holders(), ['dead-2'])
      await rig.advance(1.25 * CLAIM_MS)
      asGranted(await alive.answer())
    }),

    engineTest('an open request need not claim its grant', OPTIONS, async (rig) => {
      await rig.grant('holder')
      const wait = await rig.wait('a', { ttlMs: LONG_MS })
      await rig.release('holder')
      asGranted(await wait.answer())
      await rig.advance(2 * CLAIM_MS)
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest(
      'a detached request that was granted at once need not claim it',
      OPTIONS,
      async (rig) => {
        asGranted(await rig.acquire('a', { waitMs: Infinity, detach: true, ttlMs: LONG_MS }))
        await rig.advance(2 * CLAIM_MS)
        assert.deepEqual(await rig.holders(), ['a'])
      },
    ),

    engineTest(
      'a waiter that does not ask for too long is taken for gone',
      { settings: { ...SETTINGS, waiterPatienceMs: PATIENCE_MS } },
      async (rig) => {
        await rig.grant('holder', { ttlMs: LONG_MS })
        await rig.queue('a', { requestId: '1' })
        await rig.advance(PATIENCE_MS / 2)
        assert.deepEqual(await rig.waiters(), ['a'])
        await rig.advance(PATIENCE_MS)
        assert.deepEqual(await rig.waiters(), [])
        await rig.refuse('a', 'abandoned', { requestId: '1', waitMs: Infinity, detach: true })
        await rig.release('holder')
        assert.deepEqual(await rig.holders(), [])
      },
    ),

    engineTest('asking again keeps the place', OPTIONS, async (rig) => {
      await rig.grant('holder', { ttlMs: 60 * TTL_MS })
      await rig.queue('a', { requestId: '1' })
      await rig.queue('b', { requestId: '2' })
      for (let round = 0; round < 3; round += 1) {
        await rig.advance(0.6 * PATIENCE_MS)
        assert.equal(await rig.queue('a', { requestId: '1' }), 1)
        if (round === 0) assert.equal(await rig.queue('b', { requestId: '2' }), 2)
      }
      assert.deepEqual(await rig.waiters(), ['a'])
    }),

    engineTest('a grant that was taken in time keeps the lease it has', OPTIONS, async (rig) => {
      await rig.grant('holder')
      await rig.queue('a', { requestId: '1', ttlMs: TTL_MS * 2 })
      await rig.release('holder')
      await rig.renew('a', TTL_MS)
      await rig.advance(1.5 * TTL_MS)
      assert.deepEqual(await rig.holders(), ['a'])
      await rig.advance(TTL_MS)
      assert.deepEqual(await rig.holders(), [])
    }),

    engineTest('an operation that only asks takes its grant by asking', OPTIONS, async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      assert.equal(asQueued(await rig.begin('pull', 'n2', { ttlMs: LONG_MS })), 1)
      await rig.fail('pull', 'n1')
      asGranted(await rig.begin('pull', 'n2', { ttlMs: LONG_MS }))
      await rig.advance(2 * CLAIM_MS)
      assert.equal((await rig.succeed('pull', 'n2')).kind, 'finished')
    }),

    engineTest('asking without waiting does not end the call that waits', OPTIONS, async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      const wait = await rig.waitToBegin('pull', 'n2', { ttlMs: LONG_MS })
      assert.equal(asQueued(await rig.begin('pull', 'n2', { ttlMs: LONG_MS })), 1)
      await rig.fail('pull', 'n1')
      asGranted(await wait.answer())
      await rig.advance(2 * CLAIM_MS)
      assert.equal((await rig.succeed('pull', 'n2')).kind, 'finished')
    }),

    engineTest('asking detached does not end the call that waits', OPTIONS, async (rig) => {
      await rig.grant('holder')
      const wait = await rig.wait('a', { requestId: '1', ttlMs: LONG_MS })
      await rig.queue('a', { requestId: '1', ttlMs: LONG_MS })
      await rig.release('holder')
      asGranted(await wait.answer())
      await rig.advance(2 * CLAIM_MS)
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest(
      'a call that has waited long enough leaves a place to claim',
      OPTIONS,
      async (rig) => {
        asGranted(await rig.begin('pull', 'n1', { ttlMs: LONG_MS }))
        const first = await rig.waitToBegin('pull', 'n2', { waitMs: CLAIM_MS, ttlMs: LONG_MS })
        const second = await rig.waitToBegin('pull', 'n2', { waitMs: 2 * CLAIM_MS, ttlMs: LONG_MS })
        // The node stood in the queue before; this comes after its second call, wherever the engine is.
        const owner = 'pull:no-node'
        await rig.apply({ kind: 'cancel', namespace: 'operation', key: RESOURCE, owner })
        await rig.advance(1.5 * CLAIM_MS)
        assert.equal(asQueued(await first.answer()), 1)
        assert.ok(second.isOpen, 'it waits for longer')
        await rig.advance(CLAIM_MS)
        assert.equal(asQueued(await second.answer()), 1)
        await rig.fail('pull', 'n1')
        await rig.advance(1.5 * CLAIM_MS)
        assert.deepEqual((await rig.inspectResource()).holders, [])
      },
    ),

    engineTest('an operation that nobody takes goes to the next node', OPTIONS, async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      asQueued(await rig.begin('pull', 'n2', { ttlMs: LONG_MS }))
      const next = await rig.waitToBegin('pull', 'n3')
      await rig.fail('pull', 'n1')
      await rig.advance(1.5 * CLAIM_MS)
      asGranted(await next.answer())
      asRefused(await rig.succeed('pull', 'n2'), 'not_holder')
    }),
  ],
}

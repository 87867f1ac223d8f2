import assert from 'node:assert/strict'
import { asGranted } from '../answers.ts'
import { KEY, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

/** A grantable head is granted, and told, by whatever made it grantable. No wake-up is lost. */
export const wakeUpSuite: EngineSuite = {
  name: 'wake-up',
  tests: [
    engineTest('a release wakes the next waiter', async (rig) => {
      await rig.grant('a')
      const wait = await rig.wait('b')
      await rig.release('a')
      const granted = asGranted(await wait.answer())
      rig.assertLeft(granted.leaseMs, TTL_MS)
      assert.deepEqual([granted.reads, granted.writes], [0, 1])
    }),

    engineTest('a release wakes nobody else', async (rig) => {
      await rig.grant('a')
      const b = await rig.wait('b')
      const c = await rig.wait('c')
      await rig.release('a')
      await b.answer()
      assert.deepEqual(await rig.holders(), ['b'])
      assert.ok(c.isOpen, 'it is not its turn')
    }),

    engineTest('an operator that ends a hold wakes the next waiter', async (rig) => {
      await rig.grant('a')
      const wait = await rig.wait('b')
      await rig.apply({ kind: 'force', key: KEY })
      asGranted(await wait.answer())
    }),

    engineTest('the end of a session wakes the next waiter', async (rig) => {
      await rig.openSession('s', TTL_MS)
      await rig.grant('a', { session: 's' })
      const wait = await rig.wait('b')
      await rig.apply({ kind: 'close-session', session: 's' })
      asGranted(await wait.answer())
    }),

    engineTest('a waiter of a silent client that leaves wakes the next waiter', async (rig) => {
      await rig.openSession('s', TTL_MS)
      await rig.grant('a', { mode: 'read', ttlMs: 20 * TTL_MS })
      await rig.queue('b', { session: 's' })
      const wait = await rig.wait('c', { mode: 'read' })
      await rig.advance(1.5 * TTL_MS)
      asGranted(await wait.answer())
    }),

    engineTest('the end of a stream session wakes the next waiter', async (rig) => {
      await rig.openSession('s', TTL_MS, false)
      await rig.grant('a', { session: 's', ttlMs: 20 * TTL_MS })
      const wait = await rig.wait('b')
      await rig.advance(1.5 * TTL_MS)
      asGranted(await wait.answer())
    }),

    engineTest('a downgrade wakes the readers at the head', async (rig) => {
      await rig.grant('a')
      await rig.grant('a', { mode: 'read' })
      const reader = await rig.wait('r', { mode: 'read' })
      const writer = await rig.wait('w')
      await rig.release('a', { mode: 'write' })
      asGranted(await reader.answer())
      assert.ok(writer.isOpen, 'readers hold it')
      assert.deepEqual(await rig.holders(), ['a', 'r'])
    }),

    engineTest('a head whose time is up wakes the one behind it', async (rig) => {
      await rig.grant('r1', { mode: 'read', ttlMs: 20 * TTL_MS })
      const writer = await rig.wait('w', { waitMs: TTL_MS })
      const reader = await rig.wait('r2', { mode: 'read' })
      await rig.advance(1.5 * TTL_MS)
      assert.equal((await writer.answer()).kind, 'refused')
      asGranted(await reader.answer())
    }),

    engineTest('a cancelled upgrade wakes the readers behind it', async (rig) => {
      await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      const upgrade = await rig.wait('a')
      const reader = await rig.wait('r', { mode: 'read' })
      await rig.cancel('a', upgrade.requestId)
      asGranted(await reader.answer())
      assert.deepEqual(await rig.holders(), ['a', 'b', 'r'])
    }),

    engineTest('a failed operation wakes the next at once', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      const next = await rig.waitToBegin('pull', 'n2')
      await rig.fail('pull', 'n1')
      asGranted(await next.answer())
    }),

    engineTest('a release that overlaps with the wait is not missed', async (rig) => {
      for (let round = 0; round < 50; round += 1) {
        await rig.grant('a')
        const [outcome] = await rig.patience.answer(
          Promise.all([rig.acquire('b', { waitMs: Infinity }), rig.release('a')]),
          `the wait of round ${round}`,
        )
        asGranted(outcome)
        await rig.release('b')
      }
    }),

    engineTest('a chain of waiters that release on waking runs to its end', async (rig) => {
      const owners = Array.from({ length: 100 }, (_, index) => `owner-${index}`)
      await rig.grant('holder')
      let served = 0
      const work = owners.map(async (owner, index) => {
        const mode = index % 4 === 0 ? 'write' : 'read'
        asGranted(await rig.acquire(owner, { waitMs: Infinity, mode }))
        served += 1
        await rig.release(owner)
      })
      await rig.release('holder')
      await rig.patience.answer(Promise.all(work), 'every waiter has its turn')
      assert.equal(served, owners.length)
      assert.deepEqual(await rig.holders(), [])
    }),

    engineTest('a wait for ever has no end of its own', { needs: 'virtual-time' }, async (rig) => {
      await rig.grant('a', { ttlMs: 24 * 3_600_000 })
      const wait = await rig.wait('b')
      for (let step = 0; step < 4; step += 1) await rig.advance(5 * 3_600_000)
      assert.deepEqual(await rig.waiters(), ['b'])
      await rig.release('a')
      asGranted(await wait.answer())
    }),

    engineTest(
      'a release through one engine wakes a waiter on another',
      { needs: 'shared' },
      async (rig) => {
        const other = await rig.second()
        await rig.grant('a')
        const wait = await rig.wait('b')
        const release = await other.apply({ kind: 'release', key: KEY, owner: 'a' })
        assert.equal(release.kind, 'released')
        asGranted(await wait.answer())
      },
    ),
  ],
}

import assert from 'node:assert/strict'
import { asGranted, asRefused } from '../answers.ts'
import { KEY, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

/** A hold past its lease is void, and the queue moves without anyone having to ask. */
export const expirySuite: EngineSuite = {
  name: 'expiry',
  tests: [
    engineTest('a hold stands while its lease runs and is void after it', async (rig) => {
      await rig.grant('a')
      await rig.advance(TTL_MS / 2)
      await rig.refuse('b', 'held')
      await rig.advance(TTL_MS)
      assert.deepEqual(await rig.holders(), [])
      await rig.grant('b')
    }),

    engineTest(
      'a lease lasts to its last millisecond and no longer',
      { needs: 'virtual-time' },
      async (rig) => {
        await rig.grant('a')
        await rig.advance(TTL_MS - 1)
        assert.deepEqual(await rig.holders(), ['a'])
        await rig.advance(2 + rig.capabilities.leaseGranularityMs)
        assert.deepEqual(await rig.holders(), [])
      },
    ),

    engineTest(
      'a hold that asked for no lease has the one of the settings',
      { settings: { lockTtlMs: 30_000, operationTtlMs: 40_000 } },
      async (rig) => {
        const granted = asGranted(
          await rig.apply({ kind: 'acquire', key: KEY, owner: 'a', requestId: '1' }),
        )
        rig.assertLeft(granted.leaseMs, 30_000)
        const begun = asGranted(
          await rig.apply({ kind: 'begin', type: 'pull', resource: 'r', node: 'n' }),
        )
        rig.assertLeft(begun.leaseMs, 40_000)
      },
    ),

    engineTest('a waiter is granted when the lease before it has passed', async (rig) => {
      await rig.grant('a')
      const wait = await rig.wait('b')
      await rig.advance(TTL_MS / 2)
      assert.ok(wait.isOpen, 'the lease still runs')
      await rig.advance(TTL_MS)
      asGranted(await wait.answer())
      assert.deepEqual(await rig.holders(), ['b'])
    }),

    engineTest('the lease of a waiter begins when it is granted', async (rig) => {
      await rig.grant('a', { ttlMs: 3 * TTL_MS })
      const wait = await rig.wait('b')
      await rig.advance(2 * TTL_MS)
      await rig.release('a')
      rig.assertLeft(asGranted(await wait.answer()).leaseMs, TTL_MS)
      await rig.advance(TTL_MS / 2)
      assert.deepEqual(await rig.holders(), ['b'])
    }),

    engineTest('each reader has a lease of its own', async (rig) => {
      await rig.grant('short', { mode: 'read', ttlMs: TTL_MS })
      await rig.grant('long', { mode: 'read', ttlMs: 4 * TTL_MS })
      await rig.advance(2 * TTL_MS)
      assert.deepEqual(await rig.holders(), ['long'])
      await rig.refuse('w', 'held')
      await rig.advance(3 * TTL_MS)
      assert.deepEqual(await rig.holders(), [])
    }),

    engineTest('a later reader does not lengthen the lease of an earlier one', async (rig) => {
      await rig.grant('first', { mode: 'read', ttlMs: 2 * TTL_MS })
      await rig.advance(TTL_MS)
      await rig.grant('second', { mode: 'read', ttlMs: 3 * TTL_MS })
      await rig.advance(1.5 * TTL_MS)
      assert.deepEqual(await rig.holders(), ['second'])
    }),

    engineTest('an expiry ends every step of a hold', async (rig) => {
      await rig.grant('a')
      await rig.grant('a')
      await rig.grant('a', { mode: 'read' })
      await rig.advance(1.5 * TTL_MS)
      assert.deepEqual(await rig.holders(), [])
      const granted = await rig.grant('a')
      assert.deepEqual([granted.reads, granted.writes], [0, 1])
    }),

    engineTest('the lease of a holder that left does not end the next hold', async (rig) => {
      await rig.grant('a', { ttlMs: TTL_MS })
      await rig.advance(TTL_MS / 2)
      await rig.release('a')
      await rig.grant('b', { ttlMs: 4 * TTL_MS })
      await rig.advance(2 * TTL_MS)
      assert.deepEqual(await rig.holders(), ['b'])
    }),

    engineTest(
      'the lease of an earlier hold does not end a later one of the owner',
      async (rig) => {
        await rig.grant('a', { ttlMs: TTL_MS })
        await rig.advance(TTL_MS / 2)
        await rig.release('a')
        await rig.grant('a', { ttlMs: 4 * TTL_MS })
        await rig.advance(2 * TTL_MS)
        assert.deepEqual(await rig.holders(), ['a'])
      },
    ),

    engineTest('who has expired is a holder no more', async (rig) => {
      await rig.grant('a')
      await rig.advance(1.5 * TTL_MS)
      asRefused(await rig.release('a'), 'not_holder')
      asRefused(await rig.renew('a'), 'not_holder')
      assert.deepEqual(await rig.holders(), [])
    }),

    engineTest('entering again makes a lease later, never earlier', async (rig) => {
      await rig.grant('a', { ttlMs: 4 * TTL_MS })
      rig.assertLeft((await rig.grant('a', { ttlMs: TTL_MS })).leaseMs, 4 * TTL_MS)
      await rig.advance(2 * TTL_MS)
      assert.deepEqual(await rig.holders(), ['a'])
      rig.assertLeft((await rig.grant('a', { ttlMs: 5 * TTL_MS })).leaseMs, 5 * TTL_MS)
    }),

    engineTest('the leases of many keys all pass', async (rig) => {
      const keys = Array.from({ length: 50 }, (_, index) => `key-${index}`)
      const waits = []
      for (const key of keys) {
        await rig.grant('a', { key })
        waits.push(await rig.wait('b', { key, ttlMs: 20 * TTL_MS }))
      }
      await rig.advance(2 * TTL_MS)
      for (const wait of waits) asGranted(await wait.answer())
      assert.equal((await rig.stats()).holds, keys.length)
    }),

    engineTest('a sweep removes what has expired and leaves the rest', async (rig) => {
      await rig.grant('a', { key: 'old', ttlMs: TTL_MS })
      await rig.grant('a', { key: 'new', ttlMs: 4 * TTL_MS })
      await rig.advance(2 * TTL_MS)
      const swept = await rig.apply({ kind: 'sweep' })
      assert.equal(swept.kind, 'swept')
      assert.deepEqual(await rig.holders('old'), [])
      assert.deepEqual(await rig.holders('new'), ['a'])
      assert.equal((await rig.stats()).holds, 1)
    }),

    engineTest(
      'an operation whose lease has passed leaves the resource to the next',
      async (rig) => {
        asGranted(await rig.begin('pull', 'n1'))
        const next = await rig.waitToBegin('pull', 'n2')
        await rig.advance(1.5 * TTL_MS)
        asGranted(await next.answer())
        asRefused(await rig.succeed('pull', 'n1'), 'not_holder')
        assert.deepEqual(await rig.references(), [])
      },
    ),
  ],
}

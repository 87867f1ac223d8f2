import assert from 'node:assert/strict'
import { asGranted, asQueued, asRefused } from '../answers.ts'
import { RESOURCE, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

/** One operation at a time on a resource, whatever its type, in the order in which they came. */
export const operationsSuite: EngineSuite = {
  name: 'operations',
  tests: [
    engineTest('an operation begins on a free resource and finishes', async (rig) => {
      const granted = asGranted(await rig.begin('pull', 'n1'))
      rig.assertLeft(granted.leaseMs, TTL_MS)
      const holder = (await rig.inspectResource()).holders[0]
      assert.deepEqual([holder?.type, holder?.node, holder?.owner], ['pull', 'n1', 'pull:n1'])
      const finished = await rig.succeed('pull', 'n1')
      assert.deepEqual(finished, { kind: 'finished', success: true })
      assert.deepEqual((await rig.inspectResource()).holders, [])
    }),

    engineTest('one resource runs one operation, whatever its type', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      assert.equal(asQueued(await rig.begin('pull', 'n2')), 1)
      assert.equal(asQueued(await rig.begin('update', 'n3')), 2)
      assert.equal(asQueued(await rig.begin('delete', 'n4')), 3)
      assert.equal(asQueued(await rig.begin('repair', 'n1')), 4)
      assert.equal((await rig.inspectResource()).holders.length, 1)
    }),

    engineTest('different resources run side by side', async (rig) => {
      asGranted(await rig.begin('pull', 'n1', { resource: 'one' }))
      asGranted(await rig.begin('pull', 'n1', { resource: 'two' }))
    }),

    engineTest('only the node that runs an operation can finish it', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      await rig.begin('pull', 'n2')
      asRefused(await rig.succeed('pull', 'n2'), 'not_holder')
      asRefused(await rig.succeed('update', 'n1'), 'not_holder')
      asRefused(await rig.succeed('pull', 'n1', { resource: 'another' }), 'not_holder')
      assert.deepEqual(await rig.references(), [])
      assert.equal((await rig.inspectResource()).holders[0]?.node, 'n1')
    }),

    engineTest('a finish with an earlier token is refused', async (rig) => {
      const { token } = asGranted(await rig.begin('pull', 'n1'))
      await rig.advance(1.5 * TTL_MS)
      const again = asGranted(await rig.begin('pull', 'n1'))
      asRefused(await rig.succeed('pull', 'n1', { token }), 'stale_token')
      assert.deepEqual(await rig.references(), [])
      assert.equal((await rig.succeed('pull', 'n1', { token: again.token })).kind, 'finished')
    }),

    engineTest('an operation is finished once', async (rig) => {
      await rig.complete('build', 'n1')
      asRefused(await rig.succeed('build', 'n1'), 'not_holder')
      asRefused(await rig.fail('build', 'n1'), 'not_holder')
    }),

    engineTest('after a failure the next in the queue runs', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      const second = await rig.waitToBegin('pull', 'n2')
      const third = await rig.waitToBegin('pull', 'n3')
      const failed = await rig.fail('pull', 'n1', { error: 'disk full' })
      assert.deepEqual(failed, { kind: 'finished', success: false })
      asGranted(await second.answer())
      assert.ok(third.isOpen, 'it is not its turn')
    }),

    engineTest('other types move up after a success', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      const update = await rig.waitToBegin('update', 'n2')
      const pull = await rig.waitToBegin('pull', 'n3')
      await rig.succeed('pull', 'n1')
      assert.equal((await pull.answer()).kind, 'skip')
      asGranted(await update.answer())
    }),

    engineTest('a node that asks again has the standing it had', async (rig) => {
      const first = asGranted(await rig.begin('pull', 'n1'))
      await rig.begin('pull', 'n2')
      await rig.begin('pull', 'n3')
      assert.equal(asGranted(await rig.begin('pull', 'n1')).token, first.token)
      assert.equal(asQueued(await rig.begin('pull', 'n2')), 1)
      assert.equal(asQueued(await rig.begin('pull', 'n3', { requestId: 'other' })), 2)
      assert.equal((await rig.inspectResource()).queueLength, 2)
      await rig.fail('pull', 'n1')
      assert.equal((await rig.inspectResource()).holders[0]?.writes, 1)
    }),

    engineTest(
      'asking again keeps a place in the queue',
      { settings: { waiterPatienceMs: 90_000 } },
      async (rig) => {
        asGranted(await rig.begin('pull', 'n1', { ttlMs: 40 * TTL_MS }))
        await rig.begin('pull', 'n2')
        await rig.begin('pull', 'n3')
        await rig.advance(60_000)
        await rig.begin('pull', 'n3')
        await rig.advance(60_000)
        const { queue } = await rig.inspectResource()
        assert.deepEqual(
          queue.map(({ node }) => node),
          ['n3'],
        )
      },
    ),

    engineTest('an open request that was not settled in time keeps its place', async (rig) => {
      asGranted(await rig.begin('pull', 'n1', { ttlMs: 20 * TTL_MS }))
      const wait = await rig.waitToBegin('pull', 'n2', { waitMs: TTL_MS })
      await rig.advance(TTL_MS / 2)
      assert.ok(wait.isOpen, 'there is time left')
      await rig.advance(TTL_MS)
      assert.equal(asQueued(await wait.answer()), 1)
      assert.equal((await rig.inspectResource()).queueLength, 1)
      await rig.fail('pull', 'n1')
      asGranted(await rig.begin('pull', 'n2'))
    }),

    engineTest('a node that failed may try again', async (rig) => {
      for (let round = 0; round < 3; round += 1) {
        asGranted(await rig.begin('pull', 'n1'))
        await rig.fail('pull', 'n1')
      }
      asGranted(await rig.begin('pull', 'n1'))
      await rig.advance(1.5 * TTL_MS)
      asGranted(await rig.begin('pull', 'n1'))
      await rig.apply({ kind: 'force', key: RESOURCE, namespace: 'operation' })
      asGranted(await rig.begin('pull', 'n1'))
    }),

    engineTest('a node has a standing of its own for each type', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      const update = await rig.waitToBegin('update', 'n1')
      asRefused(await rig.succeed('update', 'n1'), 'not_holder')
      await rig.fail('pull', 'n1')
      asGranted(await update.answer())
    }),

    engineTest(
      'where several nodes may not work, a busy resource is refused',
      { settings: { multiNode: false } },
      async (rig) => {
        asGranted(await rig.begin('pull', 'n1'))
        const refused = asRefused(await rig.begin('pull', 'n2', { waitMs: TTL_MS }), 'held')
        assert.equal(refused.holders?.[0]?.owner, 'pull:n1')
        assert.equal((await rig.inspectResource()).queueLength, 0)
        asGranted(await rig.begin('pull', 'n1'))
        await rig.succeed('pull', 'n1')
        assert.equal((await rig.begin('pull', 'n2')).kind, 'skip')
      },
    ),

    engineTest(
      'a delete waits for a pull that runs and is refused when it succeeds',
      async (rig) => {
        asGranted(await rig.begin('pull', 'n1'))
        const remove = await rig.waitToBegin('delete', 'n2')
        await rig.succeed('pull', 'n1')
        const refused = asRefused(await remove.answer(), 'in_use')
        assert.deepEqual(refused.nodes, ['n1'])
        assert.deepEqual((await rig.inspectResource()).holders, [])
      },
    ),

    engineTest('a delete waits for a pull that runs and is granted when it fails', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      const remove = await rig.waitToBegin('delete', 'n2')
      assert.equal((await rig.inspectResource()).holders.length, 1)
      await rig.fail('pull', 'n1')
      asGranted(await remove.answer())
    }),
  ],
}

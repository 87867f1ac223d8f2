import assert from 'node:assert/strict'
import { ENDED_REMEMBERED_MS } from '../../../law/model/limits.ts'
import { asGranted, asQueued, asRefused } from '../answers.ts'
import { RESOURCE, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

/** The least for which a node keeps a reference that it does not know of. */
const PATIENCE_MS = ENDED_REMEMBERED_MS

/** References are the set of nodes with a pull since the last delete, less those that dropped theirs. */
export const referencesSuite: EngineSuite = {
  name: 'references',
  tests: [
    engineTest('a pull that succeeds is a reference', async (rig) => {
      await rig.complete('pull', 'n1')
      assert.deepEqual(await rig.references(), ['n1'])
      assert.deepEqual((await rig.inspectResource()).references, ['n1'])
    }),

    engineTest('a pull that is skipped is a reference', async (rig) => {
      await rig.complete('pull', 'n1')
      await rig.begin('pull', 'n2')
      assert.deepEqual(await rig.references(), ['n1', 'n2'])
    }),

    engineTest('a pull that is skipped in the queue is a reference', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      const open = await rig.waitToBegin('pull', 'n2')
      await rig.begin('pull', 'n3')
      await rig.succeed('pull', 'n1')
      await open.answer()
      assert.deepEqual(await rig.references(), ['n1', 'n2', 'n3'])
    }),

    engineTest(
      'a node that does not come for its skip loses its reference',
      { settings: { waiterPatienceMs: PATIENCE_MS } },
      async (rig) => {
        asGranted(await rig.begin('pull', 'n1'))
        for (const node of ['n2', 'n3']) asQueued(await rig.begin('pull', node))
        const open = await rig.waitToBegin('pull', 'n4')
        await rig.succeed('pull', 'n1')
        assert.equal((await open.answer()).kind, 'skip')
        assert.equal((await rig.begin('pull', 'n3')).kind, 'skip')
        await rig.advance(0.7 * PATIENCE_MS)
        assert.deepEqual(await rig.references(), ['n1', 'n2', 'n3', 'n4'])
        asRefused(await rig.begin('delete', 'n5'), 'in_use')
        await rig.advance(0.7 * PATIENCE_MS)
        assert.deepEqual(await rig.references(), ['n1', 'n3', 'n4'])
        for (const node of ['n1', 'n3', 'n4']) await rig.unref(node, RESOURCE)
        asGranted(await rig.begin('delete', 'n5'))
      },
    ),

    engineTest(
      'a reference that nobody came for leaves nothing behind',
      { settings: { waiterPatienceMs: PATIENCE_MS, retentionMs: TTL_MS } },
      async (rig) => {
        asGranted(await rig.begin('pull', 'n1'))
        asQueued(await rig.begin('pull', 'n2'))
        await rig.succeed('pull', 'n1')
        await rig.unref('n1')
        await rig.advance(1.5 * PATIENCE_MS)
        assert.deepEqual(await rig.references(), [])
        assert.deepEqual(await rig.unref('n2'), { kind: 'unreferenced', removed: 0, count: 0 })
      },
    ),

    engineTest('a pull that fails or vanishes is no reference', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      await rig.fail('pull', 'n1')
      asGranted(await rig.begin('pull', 'n2'))
      await rig.advance(1.5 * TTL_MS)
      assert.deepEqual(await rig.references(), [])
    }),

    engineTest('a node counts once', async (rig) => {
      await rig.complete('pull', 'n1')
      await rig.begin('pull', 'n1')
      await rig.begin('pull', 'n2')
      await rig.begin('pull', 'n2')
      assert.deepEqual(await rig.references(), ['n1', 'n2'])
      assert.deepEqual(await rig.unref('n1', RESOURCE), {
        kind: 'unreferenced',
        removed: 1,
        count: 1,
      })
      assert.deepEqual(await rig.references(), ['n2'])
    }),

    engineTest(
      'a node that pulls again after its success was forgotten counts once',
      { settings: { retentionMs: 10_000 } },
      async (rig) => {
        await rig.complete('pull', 'n1')
        await rig.advance(20_000)
        await rig.complete('pull', 'n1')
        assert.deepEqual(await rig.references(), ['n1'])
        await rig.unref('n1', RESOURCE)
        assert.deepEqual(await rig.references(), [])
      },
    ),

    engineTest(
      'references outlive the memory of the pull',
      { settings: { retentionMs: 10_000 } },
      async (rig) => {
        await rig.complete('pull', 'n1')
        await rig.advance(20_000)
        await rig.apply({ kind: 'sweep' })
        assert.deepEqual(await rig.references(), ['n1'])
        asRefused(await rig.begin('delete', 'n2'), 'in_use')
      },
    ),

    engineTest('updates and other types leave references alone', async (rig) => {
      await rig.complete('pull', 'n1')
      await rig.complete('update', 'n2')
      await rig.complete('build', 'n3')
      await rig.begin('build', 'n4')
      assert.deepEqual(await rig.references(), ['n1'])
    }),

    engineTest('a delete is refused while the resource is in use', async (rig) => {
      await rig.complete('pull', 'n1')
      await rig.begin('pull', 'n2')
      const refused = asRefused(await rig.begin('delete', 'n3'), 'in_use')
      assert.deepEqual(refused.nodes?.toSorted(), ['n1', 'n2'])
      asRefused(await rig.begin('delete', 'n1', { waitMs: TTL_MS }), 'in_use')
      assert.equal((await rig.inspectResource()).queueLength, 0)
      await rig.unref('n1', RESOURCE)
      asRefused(await rig.begin('delete', 'n3'), 'in_use')
      await rig.unref('n2', RESOURCE)
      asGranted(await rig.begin('delete', 'n3'))
    }),

    engineTest('a delete that succeeds leaves no reference', async (rig) => {
      await rig.complete('pull', 'n1')
      await rig.unref('n1', RESOURCE)
      await rig.complete('delete', 'n2')
      assert.deepEqual(await rig.references(), [])
      await rig.complete('pull', 'n3')
      assert.deepEqual(await rig.references(), ['n3'])
    }),

    engineTest('dropping a reference that is not there changes nothing', async (rig) => {
      await rig.complete('pull', 'n1')
      assert.deepEqual(await rig.unref('n2', RESOURCE), {
        kind: 'unreferenced',
        removed: 0,
        count: 1,
      })
      assert.deepEqual(await rig.unref('n1', 'another'), {
        kind: 'unreferenced',
        removed: 0,
        count: 0,
      })
      assert.deepEqual(await rig.references(), ['n1'])
      asRefused(await rig.begin('delete', 'n2'), 'in_use')
    }),

    engineTest('a node that is gone drops all of its references', async (rig) => {
      for (const resource of ['one', 'two', 'three']) {
        await rig.complete('pull', 'n1', { resource })
        await rig.begin('pull', 'n2', { resource })
      }
      assert.deepEqual(await rig.unref('n1'), { kind: 'unreferenced', removed: 3, count: 0 })
      for (const resource of ['one', 'two', 'three']) {
        assert.deepEqual(await rig.references(resource), ['n2'])
      }
      assert.deepEqual(await rig.unref('n1'), { kind: 'unreferenced', removed: 0, count: 0 })
    }),

    engineTest(
      'where updates need it, an update is refused while in use',
      { settings: { updateRequiresNoRef: true } },
      async (rig) => {
        await rig.complete('pull', 'n1')
        const refused = asRefused(await rig.begin('update', 'n2'), 'in_use')
        assert.deepEqual(refused.nodes, ['n1'])
        await rig.unref('n1', RESOURCE)
        asGranted(await rig.begin('update', 'n2'))
      },
    ),

    engineTest(
      'where updates need it, a queued update is decided again at its turn',
      { settings: { updateRequiresNoRef: true } },
      async (rig) => {
        asGranted(await rig.begin('pull', 'n1'))
        const update = await rig.waitToBegin('update', 'n2')
        await rig.succeed('pull', 'n1')
        asRefused(await update.answer(), 'in_use')
      },
    ),

    engineTest('where updates do not need it, an update runs while in use', async (rig) => {
      await rig.complete('pull', 'n1')
      await rig.complete('update', 'n2')
      assert.deepEqual(await rig.references(), ['n1'])
    }),
  ],
}

import assert from 'node:assert/strict'
import { asGranted, asQueued, asRefused } from '../answers.ts'
import { RESOURCE, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

const VALUE = '{"digest":"sha256:0"}'
const SKIP = { kind: 'skip', value: undefined }

/** Work is skipped only after a success of its type and version that is remembered and not undone. */
export const skipSuite: EngineSuite = {
  name: 'skip',
  tests: [
    engineTest('work that was done is skipped, with the value it left', async (rig) => {
      await rig.complete('pull', 'n1', { value: VALUE })
      assert.deepEqual(await rig.begin('pull', 'n2'), { kind: 'skip', value: VALUE })
      assert.deepEqual(await rig.begin('pull', 'n1'), { kind: 'skip', value: VALUE })
      assert.deepEqual((await rig.inspectResource()).holders, [])
    }),

    engineTest('a value is not needed to skip', async (rig) => {
      await rig.complete('pull', 'n1')
      assert.deepEqual(await rig.begin('pull', 'n2'), SKIP)
    }),

    engineTest('everyone that waits for the same work skips it', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      const open = await rig.waitToBegin('pull', 'n2')
      asQueued(await rig.begin('pull', 'n3'))
      const other = await rig.waitToBegin('repair', 'n4')
      await rig.succeed('pull', 'n1', { value: VALUE })
      assert.deepEqual(await open.answer(), { kind: 'skip', value: VALUE })
      asGranted(await other.answer())
      assert.deepEqual(await rig.begin('pull', 'n3'), { kind: 'skip', value: VALUE })
      assert.equal((await rig.inspectResource()).queueLength, 0)
    }),

    engineTest('a failure is not skipped', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      await rig.fail('pull', 'n1', { error: 'no route', value: VALUE })
      asGranted(await rig.begin('pull', 'n2'))
    }),

    engineTest('work whose holder vanished is not skipped', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      await rig.advance(1.5 * TTL_MS)
      asGranted(await rig.begin('pull', 'n2'))
      await rig.apply({ kind: 'force', key: RESOURCE, namespace: 'operation' })
      asGranted(await rig.begin('pull', 'n3'))
    }),

    engineTest('work of another type is not skipped', async (rig) => {
      await rig.complete('pull', 'n1')
      asGranted(await rig.begin('update', 'n2'))
      await rig.succeed('update', 'n2')
      assert.deepEqual(await rig.begin('pull', 'n3'), SKIP)
      assert.deepEqual(await rig.begin('update', 'n3'), SKIP)
    }),

    engineTest('work on another resource is not skipped', async (rig) => {
      await rig.complete('pull', 'n1')
      asGranted(await rig.begin('pull', 'n1', { resource: 'another' }))
    }),

    engineTest('another version is not skipped', async (rig) => {
      await rig.complete('update', 'n1', { version: '1', value: '"one"' })
      assert.deepEqual(await rig.begin('update', 'n2', { version: '1' }), {
        kind: 'skip',
        value: '"one"',
      })
      await rig.complete('update', 'n2', { version: '2', value: '"two"' })
      assert.deepEqual(await rig.begin('update', 'n3', { version: '2' }), {
        kind: 'skip',
        value: '"two"',
      })
      asGranted(await rig.begin('update', 'n3', { version: '1' }))
    }),

    engineTest('work with a version and work without one are not the same', async (rig) => {
      await rig.complete('update', 'n1', { version: '1' })
      asGranted(await rig.begin('update', 'n2'))
      await rig.succeed('update', 'n2')
      asGranted(await rig.begin('update', 'n3', { version: '1' }))
      await rig.fail('update', 'n3')
      assert.deepEqual(await rig.begin('update', 'n3'), SKIP)
    }),

    engineTest('a node that is busy with one version asks for no other', async (rig) => {
      asGranted(await rig.begin('update', 'n1', { version: '1' }))
      asQueued(await rig.begin('update', 'n2'))
      asRefused(await rig.begin('update', 'n1'), 'bad_request')
      asRefused(await rig.begin('update', 'n2', { version: '1' }), 'bad_request')
      asGranted(await rig.begin('update', 'n1', { version: '1' }))
      asQueued(await rig.begin('update', 'n2'))
    }),

    engineTest('waiters for another version are not skipped', async (rig) => {
      asGranted(await rig.begin('update', 'n1', { version: '1' }))
      const same = await rig.waitToBegin('update', 'n2', { version: '1' })
      const other = await rig.waitToBegin('update', 'n3', { version: '2' })
      const none = await rig.waitToBegin('update', 'n4')
      await rig.succeed('update', 'n1')
      assert.deepEqual(await same.answer(), SKIP)
      asGranted(await other.answer())
      await rig.succeed('update', 'n3')
      asGranted(await none.answer())
    }),

    engineTest(
      'a success is remembered as long as the settings say',
      { settings: { retentionMs: 30_000 } },
      async (rig) => {
        await rig.complete('pull', 'n1')
        await rig.advance(15_000)
        assert.deepEqual(await rig.begin('pull', 'n2'), SKIP)
        await rig.advance(20_000)
        asGranted(await rig.begin('pull', 'n3'))
      },
    ),

    engineTest('any type of operation is remembered', async (rig) => {
      await rig.complete('once', 'n1', { value: '42' })
      assert.deepEqual(await rig.begin('once', 'n2'), { kind: 'skip', value: '42' })
      assert.deepEqual(await rig.references(), [])
    }),

    engineTest('what was deleted is not skipped', async (rig) => {
      await rig.complete('pull', 'n1')
      await rig.complete('update', 'n1')
      await rig.complete('build', 'n1')
      await rig.unref('n1', RESOURCE)
      await rig.complete('delete', 'n2')
      asGranted(await rig.begin('pull', 'n3'))
      await rig.fail('pull', 'n3')
      asGranted(await rig.begin('update', 'n3'))
      await rig.fail('update', 'n3')
      asGranted(await rig.begin('build', 'n3'))
    }),

    engineTest('a delete that was done is skipped until something is done again', async (rig) => {
      await rig.complete('delete', 'n1')
      assert.deepEqual(await rig.begin('delete', 'n2'), SKIP)
      await rig.complete('build', 'n1')
      asGranted(await rig.begin('delete', 'n2'))
    }),

    engineTest('while a delete runs, a pull waits for it', async (rig) => {
      await rig.complete('pull', 'n1')
      await rig.unref('n1', RESOURCE)
      asGranted(await rig.begin('delete', 'n2'))
      const pull = await rig.waitToBegin('pull', 'n3')
      await rig.succeed('delete', 'n2')
      asGranted(await pull.answer())
    }),

    engineTest('after a delete that failed, a pull is skipped again', async (rig) => {
      await rig.complete('pull', 'n1', { value: VALUE })
      await rig.unref('n1', RESOURCE)
      asGranted(await rig.begin('delete', 'n2'))
      const pull = await rig.waitToBegin('pull', 'n3')
      await rig.fail('delete', 'n2')
      assert.deepEqual(await pull.answer(), { kind: 'skip', value: VALUE })
      assert.deepEqual(await rig.references(), ['n3'])
    }),

    engineTest('a later success leaves the later value', async (rig) => {
      await rig.complete('build', 'n1', { version: '1', value: '"old"' })
      await rig.complete('build', 'n1', { version: '2', value: '"new"' })
      assert.deepEqual(await rig.begin('build', 'n2', { version: '2' }), {
        kind: 'skip',
        value: '"new"',
      })
      const { remembered } = await rig.inspectResource()
      assert.deepEqual(
        remembered.map(({ type, version, node, value, skips }) => [
          type,
          version,
          node,
          value,
          skips,
        ]),
        [['build', '2', 'n1', '"new"', true]],
      )
    }),
  ],
}

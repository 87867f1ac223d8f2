import assert from 'node:assert/strict'
import { asGranted, asRefused } from '../answers.ts'
import { TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

const CLIENT = { settings: { coordination: 'client' } } as const
const MUTEX = { settings: { coordination: 'mutex' } } as const

/** Who coordinates after a success: the server, the clients, or nobody. */
export const coordinationSuite: EngineSuite = {
  name: 'coordination',
  tests: [
    engineTest('among clients a success dissolves the queue of its type', CLIENT, async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      const same = await rig.waitToBegin('pull', 'n2')
      const version = await rig.waitToBegin('pull', 'n3', { version: '9' })
      const other = await rig.waitToBegin('update', 'n4')
      await rig.succeed('pull', 'n1')
      assert.deepEqual(await same.answer(), { kind: 'dissolved', node: 'n1' })
      assert.deepEqual(await version.answer(), { kind: 'dissolved', node: 'n1' })
      asGranted(await other.answer())
      assert.equal((await rig.inspectResource()).queueLength, 0)
    }),

    engineTest('among clients nothing is skipped and no reference is kept', CLIENT, async (rig) => {
      await rig.complete('pull', 'n1')
      await rig.complete('pull', 'n2')
      assert.deepEqual(await rig.references(), [])
      await rig.complete('delete', 'n3')
      await rig.complete('delete', 'n4')
    }),

    engineTest('among clients a failure grants the next', CLIENT, async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      const next = await rig.waitToBegin('pull', 'n2')
      await rig.fail('pull', 'n1')
      asGranted(await next.answer())
    }),

    engineTest('as a mutex a success grants the next', MUTEX, async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      const second = await rig.waitToBegin('pull', 'n2')
      const third = await rig.waitToBegin('pull', 'n3')
      await rig.succeed('pull', 'n1', { value: '1' })
      asGranted(await second.answer())
      assert.ok(third.isOpen, 'it is not its turn')
      await rig.fail('pull', 'n2')
      asGranted(await third.answer())
    }),

    engineTest('as a mutex nothing is skipped, referenced or remembered', MUTEX, async (rig) => {
      await rig.complete('pull', 'n1')
      assert.deepEqual(await rig.references(), [])
      assert.deepEqual((await rig.inspectResource()).remembered, [])
      await rig.complete('pull', 'n2')
      await rig.complete('delete', 'n1')
    }),

    engineTest('a request can name its own kind', async (rig) => {
      await rig.complete('pull', 'n1', { resource: 'm', coordination: 'mutex' })
      await rig.complete('pull', 'n2', { resource: 'm', coordination: 'mutex' })
      assert.deepEqual(await rig.references('m'), [])
      await rig.complete('pull', 'n1', { resource: 'c', coordination: 'client' })
      await rig.complete('pull', 'n2', { resource: 'c', coordination: 'client' })
      await rig.complete('pull', 'n1', { resource: 's', coordination: 'server' })
      assert.equal((await rig.begin('pull', 'n2', { resource: 's' })).kind, 'skip')
    }),

    engineTest('a success answers only those of its own kind; the others move up', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      const mutex = await rig.waitToBegin('pull', 'n2', { coordination: 'mutex' })
      const client = await rig.waitToBegin('pull', 'n3', { coordination: 'client' })
      const server = await rig.waitToBegin('pull', 'n4')
      await rig.succeed('pull', 'n1', { value: '1' })
      assert.deepEqual(await server.answer(), { kind: 'skip', value: '1' })
      asGranted(await mutex.answer())
      assert.ok(client.isOpen, 'it is not its turn')
      assert.deepEqual(await rig.references(), ['n1', 'n4'])
      await rig.fail('pull', 'n2')
      asGranted(await client.answer())
    }),

    engineTest('a success among clients leaves who counts on the server', async (rig) => {
      asGranted(await rig.begin('pull', 'n1', { coordination: 'client' }))
      const server = await rig.waitToBegin('pull', 'n2')
      const client = await rig.waitToBegin('pull', 'n3', { coordination: 'client' })
      await rig.succeed('pull', 'n1')
      assert.deepEqual(await client.answer(), { kind: 'dissolved', node: 'n1' })
      asGranted(await server.answer())
    }),

    engineTest('a success among clients leaves what the server remembers', async (rig) => {
      await rig.complete('pull', 'n1', { value: '1' })
      await rig.complete('pull', 'n2', { coordination: 'client', value: '2' })
      assert.deepEqual(await rig.begin('pull', 'n3'), { kind: 'skip', value: '1' })
    }),

    engineTest('whoever coordinates a delete, it spares what is in use', async (rig) => {
      await rig.complete('pull', 'n1')
      for (const coordination of ['client', 'mutex'] as const) {
        asRefused(await rig.begin('delete', 'n2', { coordination }), 'in_use')
      }
      await rig.unref('n1', 'layer')
      await rig.complete('delete', 'n2', { coordination: 'mutex' })
      asGranted(await rig.begin('pull', 'n3'))
    }),

    engineTest(
      'where several nodes may not work, all kinds refuse a busy resource',
      { settings: { multiNode: false } },
      async (rig) => {
        for (const coordination of ['server', 'client', 'mutex'] as const) {
          const options = { resource: coordination, coordination, waitMs: TTL_MS }
          asGranted(await rig.begin('pull', 'n1', options))
          asRefused(await rig.begin('pull', 'n2', options), 'held')
        }
        assert.equal((await rig.stats()).waiters, 0)
      },
    ),
  ],
}

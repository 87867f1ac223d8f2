import assert from 'node:assert/strict'
import type { HistoryEntry, HistoryQuery } from '../../../engine/queries.ts'
import { asGranted } from '../answers.ts'
import { type EngineRig, KEY, RESOURCE, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

const NEEDS = { needs: 'history' } as const
const PER_KEY = 100

async function read(
  rig: EngineRig,
  query: Omit<HistoryQuery, 'kind'> = {},
): Promise<HistoryEntry[]> {
  return [...(await rig.read({ kind: 'history', ...query })).ends]
}

/** Who and how, newest first. */
async function ends(rig: EngineRig, query: Omit<HistoryQuery, 'kind'> = {}): Promise<string[]> {
  return (await read(rig, query)).map(({ owner, end }) => `${owner} ${end}`)
}

/** Which holds there were and how they ended: for people, bounded, newest first. */
export const historySuite: EngineSuite = {
  name: 'history',
  tests: [
    engineTest('an engine without a history finds none', async (rig) => {
      await rig.grant('a')
      await rig.release('a')
      const found = await read(rig)
      assert.equal(found.length, rig.capabilities.history ? 1 : 0)
    }),

    engineTest('a hold is shown from its grant to its end', NEEDS, async (rig) => {
      const { token } = await rig.grant('a')
      await rig.advance(TTL_MS / 2)
      assert.deepEqual(await read(rig), [], 'it has not ended yet')
      await rig.release('a')
      const [entry] = await read(rig)
      assert.ok(entry)
      const { fromMs, toMs, ...rest } = entry
      const expected = { namespace: 'lock', key: KEY, owner: 'a', mode: 'write', token }
      assert.deepEqual(rest, { ...expected, end: 'released' })
      if (rig.isVirtual) assert.equal(toMs - fromMs, TTL_MS / 2)
      else assert.ok(toMs >= fromMs)
    }),

    engineTest('it says how each hold ended', NEEDS, async (rig) => {
      await rig.openSession('s', TTL_MS)
      await rig.grant('d', { session: 's' })
      await rig.apply({ kind: 'close-session', session: 's' })
      await rig.grant('f')
      await rig.apply({ kind: 'force', key: KEY })
      await rig.grant('e')
      await rig.advance(1.5 * TTL_MS)
      assert.deepEqual(await ends(rig), ['e expired', 'f forced', 'd disconnected'])
    }),

    engineTest('a hold of several steps ends once, with the last', NEEDS, async (rig) => {
      await rig.grant('a')
      await rig.grant('a', { mode: 'read' })
      await rig.release('a', { mode: 'write' })
      assert.deepEqual(await read(rig), [])
      await rig.release('a')
      const found = await read(rig)
      assert.deepEqual(
        found.map(({ mode, end }) => [mode, end]),
        [['read', 'released']],
      )
    }),

    engineTest('operations count too, and say if they failed', NEEDS, async (rig) => {
      const { token } = asGranted(await rig.begin('pull', 'n1'))
      await rig.fail('pull', 'n1')
      await rig.complete('update', 'n2')
      const [update, pull] = await read(rig)
      assert.deepEqual([update?.owner, update?.end], ['update:n2', 'released'])
      assert.deepEqual(
        [pull?.namespace, pull?.key, pull?.owner, pull?.mode, pull?.token, pull?.end],
        ['operation', RESOURCE, 'pull:n1', 'write', token, 'failed'],
      )
    }),

    engineTest('waits, refusals and grants that were undone are not in it', NEEDS, async (rig) => {
      await rig.grant('a')
      await rig.refuse('b', 'held')
      await rig.queue('c', { requestId: '1' })
      await rig.release('a')
      await rig.cancel('c', '1')
      assert.deepEqual(await ends(rig), ['a released'])
    }),

    engineTest('it can be asked about one key or one kind', NEEDS, async (rig) => {
      await rig.grant('a', { key: 'same' })
      await rig.release('a', { key: 'same' })
      await rig.complete('pull', 'n1', { resource: 'same' })
      await rig.grant('b')
      await rig.release('b')
      assert.deepEqual(await ends(rig), ['b released', 'pull:n1 released', 'a released'])
      assert.deepEqual(await ends(rig, { key: 'same' }), ['pull:n1 released', 'a released'])
      assert.deepEqual(await ends(rig, { key: 'same', namespace: 'lock' }), ['a released'])
      assert.deepEqual(await ends(rig, { namespace: 'operation' }), ['pull:n1 released'])
      assert.deepEqual(await ends(rig, { key: 'another' }), [])
    }),

    engineTest('it shows as many as it is asked for, the newest', NEEDS, async (rig) => {
      for (const owner of ['a', 'b', 'c']) {
        await rig.grant(owner)
        await rig.release(owner)
      }
      assert.deepEqual(await ends(rig, { limit: 2 }), ['c released', 'b released'])
    }),

    engineTest('a key keeps its last hundred ends, and costs others none', NEEDS, async (rig) => {
      await rig.grant('first', { key: 'quiet' })
      await rig.release('first', { key: 'quiet' })
      for (let index = 0; index < PER_KEY + 20; index += 1) {
        await rig.grant(`o${index}`)
        await rig.release(`o${index}`)
      }
      const found = await read(rig, { key: KEY, limit: 1_000 })
      assert.equal(found.length, PER_KEY)
      assert.deepEqual([found[0]?.owner, found.at(-1)?.owner], [`o${PER_KEY + 19}`, 'o20'])
      assert.deepEqual(await ends(rig, { key: 'quiet' }), ['first released'])
      assert.equal((await read(rig, { limit: 1_000 })).length, PER_KEY + 1)
    }),

    engineTest('a clean restart keeps it', { needs: 'durable-history' }, async (rig) => {
      await rig.grant('a')
      await rig.release('a')
      asGranted(await rig.begin('pull', 'n1'))
      await rig.fail('pull', 'n1')
      const before = await read(rig)
      await rig.reopen()
      assert.deepEqual(await read(rig), before)
      await rig.grant('b')
      await rig.release('b')
      await rig.reopen()
      assert.deepEqual(await ends(rig), ['b released', 'pull:n1 failed', 'a released'])
    }),

    engineTest(
      'a crash may take the latest of it and keeps the engine from nothing',
      { needs: 'durable-history' },
      async (rig) => {
        await rig.grant('a')
        await rig.release('a')
        await rig.reopen()
        await rig.grant('b')
        await rig.release('b')
        await rig.crash()
        const found = await ends(rig)
        assert.ok(found.length <= 2, found.join())
        await rig.grant('c')
        await rig.release('c')
        assert.equal((await ends(rig))[0], 'c released')
      },
    ),
  ],
}

import assert from 'node:assert/strict'
import type { Want } from '../../engines/store/key-store.ts'
import { WHOLE_PARTS_MAX } from '../../engines/store/store-limits.ts'
import { asRefused, key, manyParts, part } from './key-store-rig.ts'
import { type KeyStoreSuite, keyStoreTest } from './key-store-test.ts'

const K = key('k')

/** In the order of their UTF-8 bytes; by code units the last two would change places. */
const IDS_IN_ORDER = ['', '0', '1', '10', '2', 'A', 'Z', 'a', 'aa', 'é', '\uffee', '\u{1f512}']

export const loadsSuite: KeyStoreSuite = {
  name: 'loads',
  tests: [
    keyStoreTest(
      'a key with as many parts as may be comes whole, a larger one as wanted',
      async (rig) => {
        const parts = manyParts('wait', WHOLE_PARTS_MAX)
        await rig.writeParts(K, parts)
        const all = await rig.load(K)
        assert.deepEqual(all.parts, parts)
        assert.equal(all.whole, true)
        await rig.write(K, { head: 'large', puts: [part('hold', 'one more')] })
        const wants: readonly Want[] = [{ kind: 'range', group: 'wait', limit: 2 }]
        const large = await rig.load(K, { wants })
        assert.equal(large.head, 'large')
        assert.equal(large.whole, false)
        assert.deepEqual(large.parts, parts.slice(0, 2))
        assert.deepEqual((await rig.load(K)).parts, [])
      },
    ),

    keyStoreTest('parts come by group and id, in the order of their bytes', async (rig) => {
      const parts = ['end', 'wait', '\uffee', '\u{1f512}'].flatMap((group) =>
        IDS_IN_ORDER.map((id) => part(group, id)),
      )
      await rig.writeParts(K, parts.toReversed())
      const { parts: loaded } = await rig.load(K)
      assert.deepEqual(loaded, parts)
    }),

    keyStoreTest('a range has its bounds and its limit in the order of bytes', async (rig) => {
      await rig.write(K, { puts: IDS_IN_ORDER.map((id) => part('wait', id)) })
      const { version: known } = await rig.load(K)
      for (const [first, after] of [undefined, ...IDS_IN_ORDER].entries()) {
        for (const [last, before] of [...IDS_IN_ORDER, undefined].entries()) {
          const bounds = { group: 'wait', after, before }
          const wants: readonly Want[] = [
            { kind: 'range', ...bounds, limit: 3 },
            { kind: 'count', ...bounds },
            { kind: 'count', ...bounds, group: 'none' },
          ]
          const expected = IDS_IN_ORDER.slice(first, Math.max(first, last))
          const { parts, counted } = await rig.load(K, { known, wants })
          const ids = parts.map(({ id }) => id)
          assert.deepEqual(ids, expected.slice(0, 3), `${after} to ${before}`)
          assert.deepEqual(counted, [expected.length, 0])
        }
      }
    }),

    keyStoreTest('a known version brings only what is wanted, another one the key', async (rig) => {
      const hold = part('hold', '9')
      const known = await rig.write(K, { puts: [...manyParts('wait', 3), hold] })
      const ids = ['000001', 'none']
      const wants: readonly Want[] = [
        { kind: 'ids', group: 'hold', ids: ['9'] },
        { kind: 'ids', group: 'wait', ids },
        { kind: 'range', group: 'wait', limit: 2 },
      ]
      const same = await rig.load(K, { known, wants })
      assert.equal(same.head, null)
      assert.equal(same.whole, false)
      assert.equal(same.version, known)
      assert.deepEqual(same.parts, [hold, ...manyParts('wait', 2)])
      assert.deepEqual((await rig.load(K, { known })).parts, [])
      const version = await rig.write(K, { head: 'next' })
      const other = await rig.load(K, { known, wants })
      assert.equal(other.version, version)
      assert.equal(other.head, 'next')
      assert.equal(other.whole, true)
      assert.deepEqual(other.parts, [hold, ...manyParts('wait', 3)])
    }),

    keyStoreTest('a key that is gone is not taken for one that is known', async (rig) => {
      const known = await rig.write(K)
      await rig.remove(K)
      const { version, whole, head } = await rig.load(K, { known })
      assert.deepEqual({ version, whole, head }, { version: '', whole: true, head: null })
    }),

    keyStoreTest('keys are answered in the order in which they were asked for', async (rig) => {
      const names = [key('b'), key('none'), key('a'), key('a', 'session'), key('c')]
      await rig.write(key('a'), { head: 'a' })
      await rig.write(key('a', 'session'), { head: 'session a' })
      await rig.write(key('b'), { head: 'b' })
      await rig.write(key('c'), { head: 'c' })
      const { keys } = await rig.q.load(names.map((name) => ({ name })))
      assert.deepEqual(
        keys.map(({ name, head }) => ({ name, head })),
        names.map((name, index) => ({ name, head: ['b', null, 'a', 'session a', 'c'][index] })),
      )
    }),

    keyStoreTest('a refusal on a large key brings what its change wants', async (rig) => {
      const parts = manyParts('wait', WHOLE_PARTS_MAX + 1)
      await rig.writeParts(K, parts)
      const wants: readonly Want[] = [
        { kind: 'range', group: 'wait', limit: 1 },
        { kind: 'count', group: 'wait' },
      ]
      const stale = { kind: 'check', name: K, expected: 'x', wants } as const
      const conflict = asRefused(await rig.commit(stale), 'conflict')
      const expected = await rig.load(K, { wants })
      assert.deepEqual(conflict, expected)
      assert.deepEqual(conflict.counted, [parts.length])
      const early = await rig.commit(stale, { atMs: (await rig.nowMs()) + 100_000 })
      assert.deepEqual(asRefused(early, 'clock'), expected)
    }),
  ],
}

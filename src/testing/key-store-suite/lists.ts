import assert from 'node:assert/strict'
import type { KeyCounts, KeyName } from '../../engines/store/key-store.ts'
import { key, type KeyStoreRig } from './key-store-rig.ts'
import { type KeyStoreSuite, keyStoreTest } from './key-store-test.ts'

/** In the order of their bytes, with characters that stores read as patterns. */
const NAMES = [
  '%',
  '*',
  'A',
  '[a]',
  '_',
  'a',
  'a%b',
  'a*b',
  'a/b',
  'a_b',
  'ab',
  'b',
  '\uffee',
  '\u{1f512}',
]

async function writeAll(rig: KeyStoreRig, names: readonly KeyName[]): Promise<void> {
  for (const name of names) await rig.write(name)
}

/** Every page, one after the other. */
async function listPages(rig: KeyStoreRig, prefix: string, limit: number): Promise<string[]> {
  const found: string[] = []
  for (let pages = 0; pages <= NAMES.length; pages += 1) {
    const page = await rig.p.list({ space: 'lock', prefix, after: found.at(-1), limit })
    assert.ok(page.length <= limit)
    found.push(...page)
    if (page.length < limit) return found
  }
  assert.fail('the pages do not end')
}

const ONE: KeyCounts = { holds: 1, waiters: 10, references: 100, ended: 1000 }

export const listsSuite: KeyStoreSuite = {
  name: 'lists',
  tests: [
    keyStoreTest(
      'names are listed by space and prefix, in the order of their bytes',
      async (rig) => {
        await writeAll(
          rig,
          NAMES.toReversed().map((name) => key(name)),
        )
        await writeAll(
          rig,
          [key('a'), key('ax')].map(({ name }) => key(name, 'operation')),
        )
        for (const prefix of ['', 'a', 'a%', 'a_', '*', '[a]', '\u{1f512}', 'none']) {
          const expected = NAMES.filter((name) => name.startsWith(prefix))
          for (const limit of [1, 3, 100]) {
            assert.deepEqual(await listPages(rig, prefix, limit), expected, `${prefix}, ${limit}`)
          }
        }
        const operations = await rig.p.list({ space: 'operation', prefix: 'a', limit: 10 })
        assert.deepEqual(operations, ['a', 'ax'])
      },
    ),

    keyStoreTest(
      'a page begins after a name that is gone as after one that is there',
      async (rig) => {
        await writeAll(
          rig,
          ['a', 'b', 'c'].map((name) => key(name)),
        )
        await rig.remove(key('b'))
        const page = await rig.p.list({ space: 'lock', prefix: '', after: 'b', limit: 10 })
        assert.deepEqual(page, ['c'])
      },
    ),

    keyStoreTest(
      'names that are there throughout are on the pages once each, whatever else comes and goes',
      async (rig) => {
        await rig.withRandom(async (random) => {
          const lasting = Array.from({ length: 12 }, (_, index) => `k${index}5`)
          await writeAll(
            rig,
            lasting.map((name) => key(name)),
          )
          const found: string[] = []
          for (let page: readonly string[] = ['']; page.length > 0 && found.length < 100; ) {
            page = await rig.p.list({ space: 'lock', prefix: 'k', after: found.at(-1), limit: 3 })
            found.push(...page)
            for (let changes = 0; changes < 4; changes += 1) {
              const name = key(`k${random.int(0, 11)}${random.pick([1, 9])}`)
              const isThere = (await rig.load(name)).version !== ''
              if (isThere) await rig.remove(name, 'q')
              else await rig.write(name, {}, 'q')
            }
          }
          assert.deepEqual(
            found.filter((name) => name.endsWith('5')),
            lasting.toSorted(),
          )
          assert.deepEqual(found, [...new Set(found)].toSorted())
        })
      },
    ),

    keyStoreTest('keys are found by their labels until those are taken off', async (rig) => {
      const label = 'session:s'
      const find = (): Promise<readonly KeyName[]> => rig.q.find({ label, limit: 10 })
      const labelled = new Map([
        [label, true],
        ['node:n', true],
      ])
      await rig.write(key('b'), { labels: labelled })
      await rig.write(key('a'), { labels: labelled })
      await rig.write(key('a', 'operation'), { labels: labelled })
      await rig.write(key('c'), { labels: new Map([['session:s2', true]]) })
      assert.deepEqual(await find(), [key('a'), key('b'), key('a', 'operation')])
      await rig.write(key('b'), { labels: new Map([[label, false]]) })
      await rig.write(key('c'), { labels: new Map([[label, false]]) })
      assert.deepEqual(await find(), [key('a'), key('a', 'operation')])
      const nodes = await rig.q.find({ label: 'node:n', limit: 10 })
      assert.deepEqual(nodes, [key('a'), key('b'), key('a', 'operation')])
      await rig.remove(key('a'))
      assert.deepEqual(await find(), [key('a', 'operation')])
    }),

    keyStoreTest('keys with a label come in pages', async (rig) => {
      const label = 'process:p'
      const names = (['lock', 'operation', 'session'] as const).flatMap((space) =>
        ['a', 'b', '\uffee', '\u{1f512}'].map((name) => key(name, space)),
      )
      for (const name of names.toReversed())
        await rig.write(name, { labels: new Map([[label, true]]) })
      const found: KeyName[] = []
      for (let page = names; page.length > 0 && found.length < 100; found.push(...page)) {
        page = [...(await rig.p.find({ label, after: found.at(-1), limit: 5 }))]
      }
      assert.deepEqual(found, names)
    }),

    keyStoreTest('counts are the sums over the keys that are present', async (rig) => {
      const keys = { lock: 0, operation: 0, process: 0, session: 0 }
      const none = { holds: 0, waiters: 0, references: 0, ended: 0, keys }
      assert.deepEqual(await rig.p.count(), none)
      await rig.write(key('a'), { counts: ONE })
      await rig.write(key('b'), { counts: ONE })
      await rig.write(key('b', 'operation'), { counts: ONE })
      await rig.write(key('b'), { counts: { ...ONE, waiters: 5 } })
      await rig.write(key('a'), { head: 'nothing counted anew' })
      const expected = { holds: 3, waiters: 25, references: 300, ended: 3000 }
      const present = { ...keys, lock: 2, operation: 1 }
      assert.deepEqual(await rig.q.count(), { ...expected, keys: present })
      const stale = { kind: 'write', name: key('a'), expected: 'x', head: '', counts: ONE } as const
      await rig.commit(stale)
      assert.deepEqual(await rig.q.count(), { ...expected, keys: present })
      await rig.remove(key('a'))
      await rig.remove(key('b'))
      await rig.remove(key('b', 'operation'))
      assert.deepEqual(await rig.p.count(), none)
    }),
  ],
}

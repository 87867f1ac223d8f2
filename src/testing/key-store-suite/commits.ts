import assert from 'node:assert/strict'
import type { CommitResult, KeyCounts, Version } from '../../engines/store/key-store.ts'
import { asCommitted, asRefused, key, part } from './key-store-rig.ts'
import { type KeyStoreSuite, keyStoreTest } from './key-store-test.ts'

const K = key('k')
const OTHER = key('other')
const COUNTS: KeyCounts = { holds: 1, waiters: 2, references: 3, ended: 4 }

export const commitsSuite: KeyStoreSuite = {
  name: 'commits',
  tests: [
    keyStoreTest('an absent key has the empty version, no head and no parts', async (rig) => {
      const wants = [{ kind: 'count', group: 'wait' }] as const
      assert.deepEqual(await rig.load(K, { wants }), {
        name: K,
        version: '',
        head: null,
        parts: [],
        whole: true,
        counted: [0],
      })
    }),

    keyStoreTest('a key that one process writes is loaded by other processes', async (rig) => {
      const version = await rig.write(K, { head: 'one', puts: [part('wait', 'w')] })
      assert.notEqual(version, '')
      const { keys } = await rig.q.load([{ name: K }])
      const parts = [part('wait', 'w')]
      const expected = { name: K, version, head: 'one', parts, whole: true, counted: [] }
      assert.deepEqual(keys, [expected])
    }),

    keyStoreTest(
      'a write over another version changes nothing and shows the present key',
      async (rig) => {
        const old = await rig.write(K, { puts: [part('wait', 'w')] })
        const version = await rig.write(K, { head: 'newer' }, 'q')
        const change = { head: 'late', puts: [part('wait', 'late')], dueAtMs: 0 }
        const labels = new Map([['session:s', true]])
        const stale = {
          kind: 'write',
          name: K,
          expected: old,
          ...change,
          labels,
          counts: COUNTS,
        } as const
        const result = await rig.commit(stale)
        const present = await rig.load(K)
        assert.deepEqual(asRefused(result, 'conflict'), present)
        assert.equal(present.version, version)
        assert.equal(present.head, 'newer')
        assert.deepEqual(present.parts, [part('wait', 'w')])
        assert.deepEqual((await rig.p.due(10)).names, [])
        assert.deepEqual(await rig.p.find({ label: 'session:s', limit: 10 }), [])
        assert.equal((await rig.p.count()).holds, 0)
      },
    ),

    keyStoreTest('a conflict is not blamed on other keys', async (rig) => {
      const old = await rig.write(K)
      await rig.write(K)
      const result = await rig.commit({ kind: 'write', name: K, expected: old, head: 'late' })
      assert.deepEqual(
        { ...result, key: undefined },
        { kind: 'conflict', key: undefined, moved: [] },
      )
    }),

    keyStoreTest(
      'a key is not created over a present one, nor changed where it is absent',
      async (rig) => {
        const version = await rig.write(K)
        const creation = { kind: 'write', name: K, expected: '', head: 'mine' } as const
        assert.equal(asRefused(await rig.commit(creation), 'conflict').version, version)
        const change = { kind: 'write', name: OTHER, expected: version, head: 'mine' } as const
        assert.equal(asRefused(await rig.commit(change), 'conflict').version, '')
        const removal = { kind: 'remove', name: OTHER, expected: version } as const
        assert.equal(asRefused(await rig.commit(removal), 'conflict').version, '')
      },
    ),

    keyStoreTest('a write leaves as it was what it does not name', async (rig) => {
      const dueAtMs = await rig.nowMs()
      const labels = new Map([['session:s', true]])
      await rig.write(K, { puts: [part('wait', 'w')], labels, dueAtMs, counts: COUNTS })
      await rig.write(K, { head: 'next' })
      assert.deepEqual((await rig.load(K)).parts, [part('wait', 'w')])
      assert.deepEqual((await rig.p.due(10)).names, [K])
      assert.deepEqual(await rig.p.find({ label: 'session:s', limit: 10 }), [K])
      assert.equal((await rig.p.count()).ended, COUNTS.ended)
    }),

    keyStoreTest('parts are put, replaced and removed with their head', async (rig) => {
      await rig.write(K, { puts: [part('hold', 'a'), part('wait', 'a'), part('wait', 'b')] })
      const puts = [part('wait', 'a', 'replaced'), part('wait', 'c')]
      const removes = [
        { group: 'wait', id: 'b' },
        { group: 'wait', id: 'not there' },
      ]
      await rig.write(K, { head: 'next', puts, removes })
      const { head, parts } = await rig.load(K)
      assert.equal(head, 'next')
      assert.deepEqual(parts, [part('hold', 'a'), ...puts])
    }),

    keyStoreTest('a check commits at its version, and changes nothing', async (rig) => {
      const version = await rig.write(K, { puts: [part('wait', 'w')] })
      const before = await rig.load(K)
      const check = { kind: 'check', name: K, expected: version } as const
      assert.equal(asCommitted(await rig.commit(check, { by: 'q' })), version)
      assert.deepEqual(await rig.load(K), before)
      await rig.write(K, { head: 'next' })
      assert.equal(asRefused(await rig.commit(check), 'conflict').head, 'next')
      assert.equal(asCommitted(await rig.commit({ ...check, name: OTHER, expected: '' })), '')
      assert.equal((await rig.load(OTHER)).version, '')
    }),

    keyStoreTest('a removal takes everything of the key with it', async (rig) => {
      const dueAtMs = await rig.nowMs()
      const labels = new Map([['session:s', true]])
      await rig.write(K, { puts: [part('wait', 'w')], labels, dueAtMs, counts: COUNTS })
      await rig.remove(K, 'q')
      for (const step of ['removed', 'made again']) {
        assert.deepEqual((await rig.load(K)).parts, [], step)
        assert.deepEqual((await rig.p.due(10)).names, [], step)
        assert.deepEqual(await rig.p.find({ label: 'session:s', limit: 10 }), [], step)
        assert.equal((await rig.p.count()).waiters, 0, step)
        await rig.write(K)
      }
    }),

    keyStoreTest(
      'a key never has the same version twice, not even after it was removed',
      async (rig) => {
        const seen: Version[] = []
        for (let round = 0; round < 4; round += 1) {
          seen.push(await rig.write(K), await rig.write(K))
          await rig.remove(K)
        }
        assert.equal(new Set(seen).size, seen.length)
        const [first = ''] = seen
        const late = { kind: 'write', name: K, head: 'late', expected: first } as const
        await rig.write(K, { head: 'present' })
        assert.equal(asRefused(await rig.commit(late), 'conflict').head, 'present')
      },
    ),

    keyStoreTest('one refused change does not hold up the rest', async (rig) => {
      await rig.write(K, { head: 'present' })
      const wrong = { kind: 'write', name: K, expected: 'x', head: 'wrong' } as const
      const right = { kind: 'write', name: OTHER, expected: '', head: 'right' } as const
      const atMs = await rig.nowMs()
      const { results } = await rig.p.commit([wrong, right], { atMs })
      assert.deepEqual(
        results.map(({ kind }: CommitResult) => kind),
        ['conflict', 'committed'],
      )
      assert.equal((await rig.load(K)).head, 'present')
      assert.equal((await rig.load(OTHER)).head, 'right')
    }),

    keyStoreTest(
      'a change is refused when another key that it was made from has changed',
      'checks-others',
      async (rig) => {
        const session = key('s', 'session')
        const version = await rig.write(session)
        const unchanged = [
          { name: session, version },
          { name: OTHER, version: '' },
        ]
        const first = { kind: 'write', name: K, expected: '', head: 'one', unchanged } as const
        const expected = asCommitted(await rig.commit(first))
        await rig.write(session, { head: 'closed', puts: [part('of', 'k')] }, 'q')
        const result = await rig.commit({ ...first, expected, head: 'two' })
        assert.equal(asRefused(result, 'conflict').head, 'one')
        const { moved } = result as CommitResult & { kind: 'conflict' }
        assert.deepEqual(moved, [await rig.load(session)])
        assert.equal((await rig.load(K)).head, 'one')
      },
    ),

    keyStoreTest('names, ids and texts are kept to the byte', async (rig) => {
      const texts = [
        'a',
        'A',
        'a ',
        ' a',
        'é',
        'e\u0301',
        '%',
        '_',
        'a/b',
        '{3}',
        '\'"\\',
        '\u{1f512}',
      ]
      const spaces = ['lock', 'operation', 'session', 'process'] as const
      for (const text of texts) {
        for (const space of spaces) {
          const puts = texts.map((id) => part(text, id, `${text}\n${id}\t\u{1f512}`))
          await rig.write(key(text, space), { head: `${space} ${text}`, puts })
        }
      }
      for (const text of texts) {
        for (const space of spaces) {
          const { head, parts } = await rig.load(key(text, space))
          assert.equal(head, `${space} ${text}`)
          assert.equal(parts.length, texts.length)
          for (const { group, id, body } of parts) assert.equal(body, `${group}\n${id}\t\u{1f512}`)
        }
      }
      assert.equal((await rig.p.count()).keys.session, texts.length)
    }),
  ],
}

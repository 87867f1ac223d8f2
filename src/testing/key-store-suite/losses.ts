import assert from 'node:assert/strict'
import type { KeyCounts, KeyStore, Notice, Version } from '../../engines/store/key-store.ts'
import { asCommitted, asRefused, key, type KeyStoreRig, part } from './key-store-rig.ts'
import { type KeyStoreSuite, keyStoreTest } from './key-store-test.ts'
import { hearAll, seeAll, watchFrom } from './notices.ts'

const K = key('k')
const COUNTS: KeyCounts = { holds: 1, waiters: 1, references: 1, ended: 1 }

/** Write over this version, whatever becomes of it. */
async function tryWrite(rig: KeyStoreRig, store: KeyStore, expected: Version): Promise<string> {
  const atMs = await rig.nowMs()
  const write = { kind: 'write', name: K, expected, head: 'h' } as const
  return (await store.commit([write], { atMs })).results[0]?.kind ?? 'none'
}

/** What a fail-over or a restore takes back. */
export const lossesSuite: KeyStoreSuite = {
  name: 'losses',
  tests: [
    keyStoreTest('every process that was connected is told once of a loss', 'mark', async (rig) => {
      const kept = await rig.write(K, { head: 'kept' })
      const lose = await rig.opened.mark?.()
      const lost = await rig.write(K, { head: 'lost' })
      await lose?.()
      for (const by of ['p', 'q'] as const) {
        const write = { kind: 'write', name: K, expected: lost, head: 'h' } as const
        const { version, head } = asRefused(await rig.commit(write, { by }), 'lost')
        assert.deepEqual({ version, head }, { version: kept, head: 'kept' })
        assert.equal(await tryWrite(rig, rig.stores[by], lost), 'conflict')
      }
      const later = await rig.opened.connect('later')
      assert.equal(await tryWrite(rig, later, kept), 'committed')
    }),

    keyStoreTest(
      'watchers and listeners are told that they may have missed something',
      'mark',
      async (rig) => {
        const heard: (Notice | undefined)[] = []
        await rig.q.listen((notice) => heard.push(notice))
        const seen = await watchFrom(rig, 'q')
        const lose = await rig.opened.mark?.()
        await rig.write(K)
        await lose?.()
        asRefused(await rig.commit({ kind: 'check', name: K, expected: '' }), 'lost')
        assert.deepEqual(await seeAll(rig, seen), ['reset'])
        if (rig.q.facts.pushes) assert.deepEqual(await hearAll(rig, heard), [undefined])
        else assert.deepEqual(heard, [])
      },
    ),

    keyStoreTest('a version that was lost does not come again', 'mark', async (rig) => {
      const kept = await rig.write(K)
      const lose = await rig.opened.mark?.()
      const lost = [await rig.write(K), await rig.write(K), await rig.write(K)]
      await lose?.()
      assert.equal(await tryWrite(rig, rig.p, kept), 'lost')
      const later = [await rig.write(K), await rig.write(K), await rig.write(K)]
      assert.equal(new Set([kept, ...lost, ...later]).size, 7)
    }),

    keyStoreTest('what is left of a key after a loss is whole', 'mark', async (rig) => {
      const dueAtMs = await rig.nowMs()
      const labels = new Map([['session:s', true]])
      await rig.write(K, { puts: [part('wait', 'w')], labels, dueAtMs, counts: COUNTS })
      const kept = await rig.load(K)
      const lose = await rig.opened.mark?.()
      const removes = [{ group: 'wait', id: 'w' }]
      const none = { holds: 0, waiters: 0, references: 0, ended: 0 }
      const off = new Map([['session:s', false]])
      await rig.write(K, { head: 'lost', removes, labels: off, dueAtMs: null, counts: none })
      await lose?.()
      assert.deepEqual(await rig.load(K), kept)
      assert.deepEqual((await rig.p.due(10)).names, [K])
      assert.deepEqual(await rig.p.find({ label: 'session:s', limit: 10 }), [K])
      assert.equal((await rig.p.count()).holds, 1)
      assert.equal(await tryWrite(rig, rig.p, kept.version), 'lost')
      asCommitted(await rig.commit({ kind: 'remove', name: K, expected: kept.version }))
    }),
  ],
}

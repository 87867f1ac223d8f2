import assert from 'node:assert/strict'
import { isLockError } from '../../engine/errors/errors.ts'
import { HISTORY_KEPT_MS, HISTORY_PER_KEY_MAX } from '../../engine/history-rules.ts'
import type { KeyStore } from '../../engines/store/key-store.ts'
import { asCommitted, key, manyParts } from './key-store-rig.ts'
import { type KeyStoreSuite, keyStoreTest } from './key-store-test.ts'

const K = key('k')

async function assertClosed(store: KeyStore): Promise<void> {
  const calls: (() => Promise<unknown>)[] = [
    () => store.load([]),
    () => store.commit([{ kind: 'check', name: K, expected: '' }], { atMs: 0 }),
    () => store.due(1),
    () => store.list({ space: 'lock', prefix: '', limit: 1 }),
    () => store.find({ label: 'l', limit: 1 }),
    () => store.listen(() => {}),
    () => store.watch(() => {}),
    () => store.count(),
    () => store.history({ limit: 1 }),
    () => store.tidy(),
  ]
  for (const call of calls) {
    await assert.rejects(call, (error) => isLockError(error, 'LOCK_ENGINE_CLOSED'))
  }
}

/** History, and what must leave no trace. */
export const tracesSuite: KeyStoreSuite = {
  name: 'traces',
  tests: [
    keyStoreTest(
      'history is kept by key, the latest first, and outlives its key',
      'history',
      async (rig) => {
        await rig.write(K, { history: ['1', '2'] })
        await rig.write(key('k', 'operation'), { history: ['3'] })
        await rig.write(key('other'), { history: ['4'] })
        const { version: expected } = await rig.load(K)
        const history = ['5']
        asCommitted(await rig.commit({ kind: 'remove', name: K, expected, history }, { by: 'q' }))
        const limit = 10
        assert.deepEqual(await rig.p.history({ limit }), ['5', '4', '3', '2', '1'])
        assert.deepEqual(await rig.p.history({ limit: 2 }), ['5', '4'])
        assert.deepEqual(await rig.p.history({ name: 'k', limit }), ['5', '3', '2', '1'])
        assert.deepEqual(await rig.p.history({ name: 'k', space: 'lock', limit }), ['5', '2', '1'])
        assert.deepEqual(await rig.p.history({ space: 'operation', limit }), ['3'])
      },
    ),

    keyStoreTest('a refused change has no history', 'history', async (rig) => {
      await rig.commit({ kind: 'write', name: K, expected: 'x', head: 'h', history: ['1'] })
      assert.deepEqual(await rig.p.history({ limit: 10 }), [])
    }),

    keyStoreTest('of each key the last entries are kept', 'history', async (rig) => {
      await rig.write(key('other'), { history: ['other'] })
      const all = Array.from({ length: HISTORY_PER_KEY_MAX + 5 }, (_, index) => String(index))
      await rig.write(K, { history: all.slice(0, 50) })
      await rig.write(K, { history: all.slice(50) })
      for (const step of ['untidy', 'tidy']) {
        const kept = all.toReversed().slice(0, HISTORY_PER_KEY_MAX)
        assert.deepEqual(await rig.p.history({ limit: 1000 }), [...kept, 'other'], step)
        await rig.p.tidy()
      }
    }),

    keyStoreTest('history ends with its time', ['virtual-time', 'history'], async (rig) => {
      await rig.write(K, { history: ['1'] })
      await rig.advance(HISTORY_KEPT_MS - 1)
      assert.deepEqual(await rig.p.history({ limit: 10 }), ['1'])
      await rig.advance(1)
      assert.deepEqual(await rig.p.history({ limit: 10 }), [])
    }),

    keyStoreTest('a store without a history has none', 'no-history', async (rig) => {
      await rig.write(K, { history: ['1'] })
      assert.deepEqual(await rig.p.history({ limit: 10 }), [])
    }),

    keyStoreTest('removed keys, events and turns leave no records', 'size', async (rig) => {
      const size = async (): Promise<number> => (await rig.opened.size?.()) ?? NaN
      const before = await size()
      const stop = await rig.q.watch(() => {})
      for (let round = 0; round < 3; round += 1) {
        const name = key(`k${round}`)
        const labels = new Map([['session:s', true]])
        const dueAtMs = await rig.nowMs()
        await rig.write(name, { puts: manyParts('wait', 20), labels, dueAtMs, events: ['e'] })
        const wrong = { kind: 'check', name, expected: 'x' } as const
        await rig.commit(wrong, { turn: true })
        assert.ok((await size()) > before)
        await rig.remove(name)
        if (round === 0) await stop()
      }
      await rig.advance(60_000)
      await rig.p.tidy()
      assert.equal(await size(), before)
    }),

    keyStoreTest(
      'a closed connection refuses every call, and other connections go on',
      async (rig) => {
        const heard: unknown[] = []
        await rig.p.listen((notice) => heard.push(notice))
        await rig.p.watch((events) => heard.push(events))
        await rig.write(K, { head: 'stays' })
        await rig.p.close()
        await rig.p.close()
        await assertClosed(rig.p)
        const seen: string[] = []
        await rig.q.watch((events) => seen.push(...(events ?? [])))
        const { keys, nowMs } = await rig.q.load([{ name: K }])
        assert.equal(keys[0]?.head, 'stays')
        const expected = keys[0]?.version ?? ''
        const told = { notify: ['p'], events: ['e'] }
        const write = { kind: 'write', name: K, expected, head: 'on', ...told } as const
        const { results } = await rig.q.commit([write], { atMs: nowMs })
        assert.equal(results[0]?.kind, 'committed')
        await rig.patience.until(() => seen.length > 0, 'an event')
        assert.deepEqual(heard, [])
      },
    ),

    keyStoreTest('a closed connection is not told what was under way', async (rig) => {
      const heard: unknown[] = []
      await rig.p.listen((notice) => heard.push(notice))
      await rig.p.watch((events) => heard.push(events))
      const told = { notify: ['p'], events: ['e'] }
      const write = { kind: 'write', name: K, expected: '', head: 'h', ...told } as const
      const committing = rig.q.commit([write], { atMs: await rig.nowMs() })
      await rig.p.close()
      const before = heard.length
      await committing
      const seen: string[] = []
      await rig.q.watch((events) => seen.push(...(events ?? [])))
      await rig.q.commit([{ kind: 'check', name: key('end'), expected: '', events: ['end'] }], {
        atMs: (await rig.q.load([])).nowMs,
      })
      await rig.patience.until(() => seen.length > 0, 'an event')
      assert.equal(heard.length, before)
    }),
  ],
}

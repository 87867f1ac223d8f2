import assert from 'node:assert/strict'
import { COMMIT_WINDOW_MS } from '../../engines/store/store-limits.ts'
import { asCommitted, asRefused, key } from './key-store-rig.ts'
import { type KeyStoreSuite, keyStoreTest } from './key-store-test.ts'

const K = key('k')

export const timesSuite: KeyStoreSuite = {
  name: 'times',
  tests: [
    keyStoreTest(
      'store time is whole milliseconds, the same in every answer',
      'virtual-time',
      async (rig) => {
        const beforeMs = await rig.nowMs()
        assert.ok(Number.isSafeInteger(beforeMs))
        await rig.advance(5)
        const nowMs = beforeMs + 5
        const committed = await rig.p.commit(
          [{ kind: 'write', name: K, expected: '', head: 'h' }],
          { atMs: nowMs },
        )
        const answers = [committed, await rig.q.load([{ name: K }]), await rig.q.due(1)]
        assert.deepEqual(
          answers.map((answer) => answer.nowMs),
          [nowMs, nowMs, nowMs],
        )
      },
    ),

    keyStoreTest(
      'a change is committed in its window only, to the millisecond',
      'virtual-time',
      async (rig) => {
        await rig.advance(2 * COMMIT_WINDOW_MS)
        const nowMs = await rig.nowMs()
        let expected = await rig.write(K)
        for (const atMs of [nowMs, nowMs - 1, nowMs - COMMIT_WINDOW_MS + 1]) {
          const write = { kind: 'write', name: K, expected, head: 'in time' } as const
          expected = asCommitted(await rig.commit(write, { atMs }))
        }
        for (const atMs of [nowMs + 1, nowMs - COMMIT_WINDOW_MS]) {
          const write = { kind: 'write', name: K, expected, head: 'out of time' } as const
          assert.deepEqual(asRefused(await rig.commit(write, { atMs }), 'clock'), await rig.load(K))
        }
        assert.equal((await rig.load(K)).head, 'in time')
      },
    ),

    keyStoreTest(
      'a change decided long ago or far ahead is refused with the present key',
      async (rig) => {
        const expected = await rig.write(K)
        const nowMs = await rig.nowMs()
        const write = { kind: 'write', name: K, expected, head: 'out of time' } as const
        for (const atMs of [nowMs + 60_000, nowMs - 60_000]) {
          assert.deepEqual(asRefused(await rig.commit(write, { atMs }), 'clock'), await rig.load(K))
          const check = { kind: 'check', name: K, expected } as const
          asRefused(await rig.commit(check, { atMs }), 'clock')
        }
        assert.equal((await rig.load(K)).version, expected)
      },
    ),

    keyStoreTest('a key is due from its moment on until that is changed', async (rig) => {
      const dueAtMs = (await rig.nowMs()) + 200
      await rig.write(K, { dueAtMs })
      const early = await rig.p.due(10)
      if (early.nowMs < dueAtMs) {
        assert.deepEqual({ ...early, nowMs: 0 }, { nowMs: 0, names: [], nextAtMs: dueAtMs })
      }
      await rig.advance(200)
      for (const store of [rig.p, rig.q, rig.p]) {
        const { names, nextAtMs } = await store.due(10)
        assert.deepEqual({ names, nextAtMs }, { names: [K], nextAtMs: null })
      }
      await rig.write(K, { dueAtMs: dueAtMs + 60_000 })
      const { names, nextAtMs } = await rig.q.due(10)
      assert.deepEqual({ names, nextAtMs }, { names: [], nextAtMs: dueAtMs + 60_000 })
    }),

    keyStoreTest('a key is due in the very millisecond', 'virtual-time', async (rig) => {
      const dueAtMs = (await rig.nowMs()) + 10
      await rig.write(K, { dueAtMs })
      await rig.advance(9)
      assert.deepEqual((await rig.p.due(10)).names, [])
      await rig.advance(1)
      assert.deepEqual((await rig.p.due(10)).names, [K])
    }),

    keyStoreTest('a key that is removed, or has nothing due, is never due', async (rig) => {
      const dueAtMs = await rig.nowMs()
      await rig.write(K, { dueAtMs })
      await rig.write(key('gone'), { dueAtMs })
      await rig.write(K, { dueAtMs: null })
      await rig.remove(key('gone'))
      const { names, nextAtMs } = await rig.p.due(10)
      assert.deepEqual({ names, nextAtMs }, { names: [], nextAtMs: null })
    }),

    keyStoreTest(
      'the soonest keys are due first, and the next moment counts those left out',
      async (rig) => {
        const nowMs = await rig.nowMs()
        const names = ['b', 'a', 'd', 'c'].map((name) => key(name))
        for (const [index, name] of names.entries())
          await rig.write(name, { dueAtMs: nowMs - 4 + index })
        await rig.write(key('later'), { dueAtMs: nowMs + 60_000 })
        const some = await rig.p.due(2)
        assert.deepEqual(some.names, names.slice(0, 2))
        assert.ok(some.nextAtMs !== null && some.nextAtMs <= nowMs - 2)
        const all = await rig.p.due(4)
        assert.deepEqual(all.names, names)
        assert.equal(all.nextAtMs, nowMs + 60_000)
      },
    ),
  ],
}

import assert from 'node:assert/strict'
import type { Notice } from '../../engines/store/key-store.ts'
import { asCommitted, asRefused, key, type KeyStoreRig } from './key-store-rig.ts'
import { type KeyStoreSuite, keyStoreTest } from './key-store-test.ts'

const K = key('k')
const END = key('end')

/** Everything that was told until a last notice, sent for the purpose, has come. */
export async function hearAll(
  rig: KeyStoreRig,
  heard: readonly (Notice | undefined)[],
): Promise<unknown[]> {
  await rig.write(END, { notify: ['p', 'q'] })
  const isEnd = (notice: Notice | undefined): boolean => notice?.name.name === END.name
  await rig.patience.until(() => heard.some(isEnd), 'a notice')
  return heard.filter((notice) => !isEnd(notice))
}

/** The events that were told until the last one, sent for the purpose. */
export async function seeAll(rig: KeyStoreRig, seen: readonly string[]): Promise<string[]> {
  await rig.write(END, { events: ['end'] })
  await rig.patience.until(() => seen.includes('end'), 'an event')
  return seen.filter((event) => event !== 'end')
}

export async function watchFrom(rig: KeyStoreRig, process: 'p' | 'q'): Promise<string[]> {
  const seen: string[] = []
  await rig.stores[process].watch((events) => seen.push(...(events ?? ['reset'])))
  return seen
}

export const noticesSuite: KeyStoreSuite = {
  name: 'notices',
  tests: [
    keyStoreTest(
      'a process is told what was committed for it, each key in order',
      'pushes',
      async (rig) => {
        const heard: (Notice | undefined)[] = []
        await rig.q.listen((notice) => heard.push(notice))
        const one = await rig.write(K, { head: 'one', notify: ['q'] })
        await rig.write(K, { head: 'not told' })
        const two = await rig.write(K, { head: 'two', notify: ['p', 'q'] }, 'q')
        const expected = await rig.write(K, { notify: ['p'] })
        const removal = { kind: 'remove', name: K, expected, notify: ['q'] } as const
        asCommitted(await rig.commit(removal))
        assert.deepEqual(await hearAll(rig, heard), [
          { name: K, version: one, head: 'one' },
          { name: K, version: two, head: 'two' },
          { name: K, version: '', head: null },
        ])
      },
    ),

    keyStoreTest('what a notice tells can be loaded', 'pushes', async (rig) => {
      const loads: Promise<void>[] = []
      await rig.q.listen((notice) => {
        const check = async (): Promise<void> => {
          const { keys } = await rig.q.load([{ name: notice?.name ?? K }])
          assert.equal(keys[0]?.version, notice?.version)
        }
        loads.push(check())
      })
      for (let round = 1; round <= 5; round += 1) {
        await rig.write(K, { notify: ['q'] })
        await rig.patience.until(() => loads.length === round, 'a notice')
        await Promise.all(loads)
      }
    }),

    keyStoreTest('a change that is refused tells nothing', 'pushes', async (rig) => {
      const heard: (Notice | undefined)[] = []
      await rig.q.listen((notice) => heard.push(notice))
      const seen = await watchFrom(rig, 'q')
      const expected = await rig.write(K)
      const change = { name: K, kind: 'write', head: 'h', notify: ['q'], events: ['e'] } as const
      asRefused(await rig.commit({ ...change, expected: 'x' }), 'conflict')
      asRefused(await rig.commit({ ...change, expected }, { atMs: 2 ** 50 }), 'clock')
      assert.deepEqual(await hearAll(rig, heard), [])
      assert.deepEqual(await seeAll(rig, seen), [])
    }),

    keyStoreTest('a store that pushes nothing is silent', 'no-pushes', async (rig) => {
      const heard: unknown[] = []
      await rig.q.listen((notice) => heard.push(notice))
      const seen = await watchFrom(rig, 'q')
      await rig.write(K, { notify: ['q'] })
      await seeAll(rig, seen)
      assert.deepEqual(heard, [])
    }),

    keyStoreTest(
      'a watcher is told every later event of any process, each key in order',
      async (rig) => {
        await rig.write(K, { events: ['before'] })
        const seen = await watchFrom(rig, 'p')
        const other = await watchFrom(rig, 'q')
        await rig.write(K, { events: ['a', 'b'] })
        const expected = await rig.write(K, { events: ['c'] }, 'q')
        asCommitted(await rig.commit({ kind: 'check', name: K, expected, events: ['d'] }))
        asCommitted(await rig.commit({ kind: 'remove', name: K, expected, events: ['e'] }))
        assert.deepEqual(await seeAll(rig, seen), ['a', 'b', 'c', 'd', 'e'])
        assert.deepEqual(await seeAll(rig, other), ['a', 'b', 'c', 'd', 'e'])
      },
    ),

    keyStoreTest('events are told to present watchers, and are not kept', async (rig) => {
      const stopped: string[] = []
      const stop = await rig.p.watch((events) => stopped.push(...(events ?? ['reset'])))
      await rig.write(K, { events: ['first'] })
      await rig.patience.until(() => stopped.length > 0, 'an event')
      await stop()
      await stop()
      await rig.write(K, { events: ['unseen'] })
      const seen = await watchFrom(rig, 'p')
      await rig.write(K, { events: ['last'] })
      assert.deepEqual(await seeAll(rig, seen), ['last'])
      assert.deepEqual(stopped, ['first'])
    }),

    keyStoreTest('a watcher that has stopped is not told what was under way', async (rig) => {
      const told: string[] = []
      const stop = await rig.p.watch((events) => told.push(...(events ?? ['reset'])))
      const change = { kind: 'check', name: K, expected: '', events: ['e'] } as const
      const atMs = await rig.nowMs()
      const committing = rig.q.commit([change], { atMs })
      await stop()
      const before = told.length
      await committing
      await seeAll(rig, await watchFrom(rig, 'p'))
      assert.equal(told.length, before)
    }),
  ],
}

import assert from 'node:assert/strict'
import { TURN_MS_MAX } from '../../engines/store/store-limits.ts'
import { asCommitted, asRefused, key, type KeyStoreRig, type ProcessName } from './key-store-rig.ts'
import { type KeyStoreSuite, keyStoreTest } from './key-store-test.ts'

const K = key('k')

/** A conflict on the key, with which the process asks for the turn. */
async function takeTurn(rig: KeyStoreRig, by: ProcessName, name = K): Promise<void> {
  const stale = { kind: 'write', name, expected: 'x', head: 'stale' } as const
  asRefused(await rig.commit(stale, { by, turn: true }), 'conflict')
}

export const turnsSuite: KeyStoreSuite = {
  name: 'turns',
  tests: [
    keyStoreTest(
      'a turn keeps other processes from writing until its own has written',
      async (rig) => {
        const expected = await rig.write(K)
        await takeTurn(rig, 'p')
        const write = { kind: 'write', name: K, expected, head: 'next' } as const
        const refused = await rig.commit(write, { by: 'q' })
        assert.deepEqual(asRefused(refused, 'other-turn'), await rig.load(K))
        const removal = { kind: 'remove', name: K, expected } as const
        asRefused(await rig.commit(removal, { by: 'q' }), 'other-turn')
        assert.equal((await rig.load(K)).version, expected)
        const version = asCommitted(await rig.commit(write))
        asCommitted(await rig.commit({ ...write, expected: version }, { by: 'q' }))
      },
    ),

    keyStoreTest('a turn lasts for its time and no longer', 'virtual-time', async (rig) => {
      const expected = await rig.write(K)
      await takeTurn(rig, 'p')
      const write = { kind: 'write', name: K, expected, head: 'next' } as const
      await rig.advance(TURN_MS_MAX - 1)
      asRefused(await rig.commit(write, { by: 'q' }), 'other-turn')
      await rig.advance(1)
      asCommitted(await rig.commit(write, { by: 'q' }))
    }),

    keyStoreTest('a turn that is not used is over', async (rig) => {
      const expected = await rig.write(K)
      await takeTurn(rig, 'p')
      await rig.advance(TURN_MS_MAX + 1)
      const write = { kind: 'write', name: K, expected, head: 'next' } as const
      asCommitted(await rig.commit(write, { by: 'q' }))
    }),

    keyStoreTest('a conflict without `turn` reserves nothing', async (rig) => {
      const expected = await rig.write(K)
      const stale = { kind: 'write', name: K, expected: 'x', head: 'stale' } as const
      asRefused(await rig.commit(stale), 'conflict')
      asCommitted(await rig.commit({ ...stale, expected }, { by: 'q', turn: true }))
      asCommitted(await rig.commit({ ...stale, expected: (await rig.load(K)).version }))
    }),

    keyStoreTest('a process that waits for another does not take the turn from it', async (rig) => {
      const expected = await rig.write(K)
      await takeTurn(rig, 'p')
      const stale = { kind: 'write', name: K, expected: 'x', head: 'stale' } as const
      asRefused(await rig.commit(stale, { by: 'q', turn: true }), 'other-turn')
      asCommitted(await rig.commit({ ...stale, expected }))
    }),

    keyStoreTest('a check needs no turn, takes none from another, and ends none', async (rig) => {
      const expected = await rig.write(K)
      await takeTurn(rig, 'p')
      const check = { kind: 'check', name: K, expected } as const
      asCommitted(await rig.commit(check, { by: 'q' }))
      asCommitted(await rig.commit(check))
      asRefused(await rig.commit({ ...check, expected: 'x' }, { by: 'q', turn: true }), 'conflict')
      const write = { kind: 'write', name: K, expected, head: 'next' } as const
      asRefused(await rig.commit(write, { by: 'q' }), 'other-turn')
      asCommitted(await rig.commit(write))
    }),

    keyStoreTest('an absent key has no turn', async (rig) => {
      await takeTurn(rig, 'p')
      const version = await rig.write(K, {}, 'q')
      await takeTurn(rig, 'p')
      asCommitted(await rig.commit({ kind: 'remove', name: K, expected: version }))
      await rig.write(K, {}, 'q')
    }),

    keyStoreTest('a turn is for one key', async (rig) => {
      await rig.write(K)
      await rig.write(key('k', 'session'))
      await takeTurn(rig, 'p')
      await rig.write(key('k', 'session'), {}, 'q')
      await rig.write(key('k2'), {}, 'q')
    }),
  ],
}

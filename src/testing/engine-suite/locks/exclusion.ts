import assert from 'node:assert/strict'
import { KEY, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

const OWNERS = Array.from({ length: 20 }, (_, index) => `owner-${index}`)

/** At no instant do two owners hold a key unless both hold read. */
export const exclusionSuite: EngineSuite = {
  name: 'exclusion',
  tests: [
    engineTest('a free lock is granted at once', async (rig) => {
      const granted = await rig.grant('a')
      assert.equal(granted.mode, 'write')
      assert.deepEqual([granted.reads, granted.writes], [0, 1])
      rig.assertLeft(granted.leaseMs, TTL_MS)
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('a write hold excludes every other owner', async (rig) => {
      await rig.grant('a')
      await rig.refuse('b', 'held')
      await rig.refuse('c', 'held', { mode: 'read' })
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('a read hold excludes writers', async (rig) => {
      await rig.grant('a', { mode: 'read' })
      await rig.refuse('b', 'held')
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('readers share a lock', async (rig) => {
      for (const owner of ['a', 'b', 'c']) {
        const granted = await rig.grant(owner, { mode: 'read' })
        assert.deepEqual([granted.mode, granted.reads, granted.writes], ['read', 1, 0])
      }
      assert.deepEqual((await rig.holders()).toSorted(), ['a', 'b', 'c'])
    }),

    engineTest('a refusal names who holds the lock', async (rig) => {
      const { token } = await rig.grant('a')
      const { holders } = await rig.refuse('b', 'held')
      assert.equal(holders?.length, 1)
      const [holder] = holders
      assert.equal(holder?.owner, 'a')
      assert.equal(holder.mode, 'write')
      assert.equal(holder.token, token)
      rig.assertLeft(holder.leaseMs, TTL_MS)
    }),

    engineTest('a refused request leaves no trace in the queue', async (rig) => {
      await rig.grant('a')
      await rig.refuse('b', 'held')
      await rig.refuse('b', 'held', { waitMs: 0 })
      assert.equal((await rig.inspect()).queueLength, 0)
      await rig.release('a')
      assert.deepEqual(await rig.holders(), [])
    }),

    engineTest('different keys have nothing to do with each other', async (rig) => {
      await rig.grant('a', { key: 'one' })
      await rig.grant('b', { key: 'two' })
      await rig.refuse('b', 'held', { key: 'one' })
      await rig.release('a', { key: 'one' })
      assert.deepEqual(await rig.holders('two'), ['b'])
    }),

    engineTest('of many that ask at once, one is granted', async (rig) => {
      const outcomes = await Promise.all(OWNERS.map((owner) => rig.acquire(owner)))
      const granted = outcomes.filter(({ kind }) => kind === 'granted')
      assert.equal(granted.length, 1)
      assert.equal((await rig.holders()).length, 1)
    }),

    engineTest('readers and writers that ask at once never hold together', async (rig) => {
      const outcomes = await Promise.all(
        OWNERS.map((owner, index) =>
          rig.acquire(owner, { mode: index % 3 === 0 ? 'write' : 'read' }),
        ),
      )
      const granted = outcomes.filter((outcome) => outcome.kind === 'granted')
      const writers = granted.filter(({ mode }) => mode === 'write')
      assert.ok(granted.length > 0, 'somebody has it')
      assert.ok(
        writers.length === 0 || granted.length === 1,
        `${granted.length} hold with a writer`,
      )
      assert.equal((await rig.holders()).length, granted.length)
    }),

    engineTest('a writer that waits is granted when the last reader has gone', async (rig) => {
      await rig.grant('r1', { mode: 'read' })
      await rig.grant('r2', { mode: 'read' })
      const writer = await rig.wait('w')
      await rig.release('r1')
      assert.deepEqual(await rig.holders(), ['r2'])
      assert.ok(writer.isOpen, 'a reader is left')
      await rig.release('r2')
      assert.equal((await writer.answer()).kind, 'granted')
      assert.deepEqual(await rig.holders(), ['w'])
    }),

    engineTest('two engines on one store exclude each other', { needs: 'shared' }, async (rig) => {
      const other = await rig.second()
      await rig.grant('a')
      const outcome = await other.apply(rig.toAcquire('b'))
      assert.equal(outcome.kind, 'refused')
      await rig.release('a')
      assert.equal((await other.apply(rig.toAcquire('b'))).kind, 'granted')
      await rig.refuse('a', 'held', { key: KEY })
    }),
  ],
}

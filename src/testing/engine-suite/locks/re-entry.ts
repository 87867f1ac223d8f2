import assert from 'node:assert/strict'
import { STEPS_PER_HOLD_MAX } from '../../../law/model/limits.ts'
import { asGranted, asRefused } from '../answers.ts'
import { type EngineRig, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

async function counts(rig: EngineRig): Promise<[reads: number, writes: number] | null> {
  const holder = (await rig.inspect()).holders[0]
  return holder === undefined ? null : [holder.reads, holder.writes]
}

/** An owner that already holds enters again at once, and leaves as often as it entered. */
export const reEntrySuite: EngineSuite = {
  name: 're-entry',
  tests: [
    engineTest('a writer enters again in either mode', async (rig) => {
      await rig.grant('a')
      const write = await rig.grant('a')
      assert.deepEqual([write.reads, write.writes, write.mode], [0, 2, 'write'])
      const read = await rig.grant('a', { mode: 'read' })
      assert.deepEqual([read.reads, read.writes, read.mode], [1, 2, 'read'])
    }),

    engineTest('a reader reads again', async (rig) => {
      await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      const again = await rig.grant('a', { mode: 'read' })
      assert.deepEqual([again.reads, again.writes], [2, 0])
    }),

    engineTest('a lock is free when it was left as often as it was entered', async (rig) => {
      await rig.grant('a')
      await rig.grant('a')
      await rig.grant('a')
      const wait = await rig.wait('b')
      assert.deepEqual(await rig.release('a'), { kind: 'released', reads: 0, writes: 2 })
      assert.deepEqual(await rig.release('a'), { kind: 'released', reads: 0, writes: 1 })
      assert.ok(wait.isOpen, 'one step is left')
      await rig.refuse('c', 'held')
      assert.deepEqual(await rig.release('a'), { kind: 'released', reads: 0, writes: 0 })
      asGranted(await wait.answer())
    }),

    engineTest('counts never go below zero', async (rig) => {
      await rig.grant('a')
      await rig.grant('a')
      await rig.release('a')
      await rig.release('a')
      asRefused(await rig.release('a'), 'not_holder')
      asRefused(await rig.release('a'), 'not_holder')
      await rig.grant('a')
      assert.deepEqual(await counts(rig), [0, 1])
    }),

    engineTest('each mode has a count of its own', async (rig) => {
      await rig.grant('a')
      await rig.grant('a', { mode: 'read' })
      await rig.release('a', { mode: 'read' })
      assert.deepEqual(await counts(rig), [0, 1])
      asRefused(await rig.release('a', { mode: 'read' }), 'not_holder')
      await rig.release('a', { mode: 'write' })
      assert.equal(await counts(rig), null)
    }),

    engineTest('a release that names no mode gives up writing first', async (rig) => {
      await rig.grant('a')
      await rig.grant('a', { mode: 'read' })
      assert.deepEqual(await rig.release('a'), { kind: 'released', reads: 1, writes: 0 })
      await rig.grant('b', { mode: 'read' })
      assert.deepEqual(await rig.release('a'), { kind: 'released', reads: 0, writes: 0 })
      assert.deepEqual(await rig.holders(), ['b'])
    }),

    engineTest('a downgrade lets readers in and no writer between', async (rig) => {
      await rig.grant('a')
      await rig.grant('a', { mode: 'read' })
      const writer = await rig.wait('w')
      const reader = await rig.wait('r', { mode: 'read' })
      await rig.release('a', { mode: 'write' })
      assert.deepEqual(await rig.holders(), ['a'])
      assert.deepEqual(await rig.waiters(), ['w', 'r'])
      await rig.release('a', { mode: 'read' })
      asGranted(await writer.answer())
      assert.ok(reader.isOpen, 'it stands behind the writer')
    }),

    engineTest('a downgraded hold excludes writers and admits readers', async (rig) => {
      await rig.grant('a')
      await rig.grant('a', { mode: 'read' })
      await rig.release('a', { mode: 'write' })
      await rig.refuse('w', 'held')
      await rig.grant('r', { mode: 'read' })
      assert.deepEqual(await rig.holders(), ['a', 'r'])
    }),

    engineTest('a hold has at most sixty-four steps', async (rig) => {
      for (let step = 0; step < STEPS_PER_HOLD_MAX; step += 1) await rig.grant('a')
      await rig.refuse('a', 'limit')
      await rig.refuse('a', 'limit', { mode: 'read', waitMs: Infinity })
      assert.deepEqual(await counts(rig), [0, STEPS_PER_HOLD_MAX])
      await rig.release('a')
      await rig.grant('a')
    }),

    engineTest('another owner of the same party does not enter', async (rig) => {
      await rig.grant('a', { party: 'p' })
      await rig.refuse('b', 'held', { party: 'p' })
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('entering again extends the lease of the whole hold', async (rig) => {
      await rig.grant('a', { ttlMs: TTL_MS })
      await rig.grant('a', { ttlMs: 4 * TTL_MS })
      await rig.release('a')
      await rig.advance(2 * TTL_MS)
      assert.deepEqual(await counts(rig), [0, 1])
    }),
  ],
}

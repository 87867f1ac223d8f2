import assert from 'node:assert/strict'
import { LANE_PASSES_MAX } from '../../../law/model/limits.ts'
import { asGranted, asRefused } from '../answers.ts'
import type { EngineRig } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

const LANES = { lanes: ['fast', 'slow'] }

/** Serve the whole queue, one after the other, and say in which order. */
async function serve(rig: EngineRig, first: string): Promise<string[]> {
  const served: string[] = []
  let holder = first
  for (let { queueLength } = await rig.inspect(); queueLength > 0; queueLength -= 1) {
    await rig.release(holder)
    holder = (await rig.holders())[0] ?? assert.fail('nobody was granted')
    served.push(holder)
  }
  return served
}

/** Lanes are served in their configured order, and a lower one is passed eight times at most. */
export const lanesSuite: EngineSuite = {
  name: 'lanes',
  tests: [
    engineTest('a higher lane is served first', { settings: LANES }, async (rig) => {
      await rig.grant('holder')
      await rig.wait('s1', { lane: 'slow' })
      await rig.wait('s2', { lane: 'slow' })
      await rig.wait('f1', { lane: 'fast' })
      await rig.wait('f2', { lane: 'fast' })
      assert.deepEqual(await rig.waiters(), ['f1', 'f2', 's1', 's2'])
      assert.deepEqual(await serve(rig, 'holder'), ['f1', 'f2', 's1', 's2'])
    }),

    engineTest(
      'a request that names no lane stands in the last',
      { settings: LANES },
      async (rig) => {
        await rig.grant('holder')
        await rig.wait('plain')
        await rig.wait('fast', { lane: 'fast' })
        await rig.wait('slow', { lane: 'slow' })
        assert.deepEqual(await serve(rig, 'holder'), ['fast', 'plain', 'slow'])
      },
    ),

    engineTest(
      'a lower lane has its turn after it was passed eight times',
      { settings: LANES },
      async (rig) => {
        await rig.grant('holder')
        await rig.wait('slow', { lane: 'slow' })
        const fast = Array.from({ length: LANE_PASSES_MAX + 3 }, (_, index) => `fast-${index}`)
        for (const owner of fast) await rig.wait(owner, { lane: 'fast' })
        assert.deepEqual(await serve(rig, 'holder'), [
          ...fast.slice(0, LANE_PASSES_MAX),
          'slow',
          ...fast.slice(LANE_PASSES_MAX),
        ])
      },
    ),

    engineTest('a lane that had its turn can be passed again', { settings: LANES }, async (rig) => {
      await rig.grant('holder')
      await rig.wait('slow-1', { lane: 'slow' })
      await rig.wait('slow-2', { lane: 'slow' })
      const fast = Array.from({ length: 2 * LANE_PASSES_MAX + 1 }, (_, index) => `fast-${index}`)
      for (const owner of fast) await rig.wait(owner, { lane: 'fast' })
      assert.deepEqual(await serve(rig, 'holder'), [
        ...fast.slice(0, LANE_PASSES_MAX),
        'slow-1',
        ...fast.slice(LANE_PASSES_MAX, 2 * LANE_PASSES_MAX),
        'slow-2',
        ...fast.slice(2 * LANE_PASSES_MAX),
      ])
    }),

    engineTest(
      'a position counts everyone that is served before',
      { settings: LANES },
      async (rig) => {
        await rig.grant('holder')
        assert.equal(await rig.queue('slow', { lane: 'slow' }), 1)
        assert.equal(await rig.queue('fast', { lane: 'fast' }), 1)
        const { queue } = await rig.inspect()
        assert.deepEqual(
          queue.map(({ owner, position, lane }) => [owner, position, lane]),
          [
            ['fast', 1, 'fast'],
            ['slow', 2, 'slow'],
          ],
        )
      },
    ),

    engineTest('a lane that nobody configured is refused', { settings: LANES }, async (rig) => {
      await rig.grant('holder')
      await rig.refuse('a', 'bad_request', { lane: 'express', waitMs: Infinity })
      asRefused(await rig.begin('pull', 'n', { lane: 'express' }), 'bad_request')
      assert.equal((await rig.inspect()).queueLength, 0)
    }),

    engineTest('without lanes the name of one is ignored', async (rig) => {
      await rig.grant('holder')
      await rig.wait('a', { lane: 'slow' })
      await rig.wait('b', { lane: 'fast' })
      assert.deepEqual(await serve(rig, 'holder'), ['a', 'b'])
    }),

    engineTest(
      'an operation stands in the lane that is named like its type',
      { settings: { lanes: ['delete', 'pull', 'rest'] } },
      async (rig) => {
        asGranted(await rig.begin('build', 'n1'))
        const pull = await rig.waitToBegin('pull', 'n2')
        const repair = await rig.waitToBegin('repair', 'n3')
        const remove = await rig.waitToBegin('delete', 'n4')
        await rig.fail('build', 'n1')
        asGranted(await remove.answer())
        await rig.fail('delete', 'n4')
        asGranted(await pull.answer())
        await rig.fail('pull', 'n2')
        asGranted(await repair.answer())
      },
    ),

    engineTest('a waiting upgrader comes before every lane', { settings: LANES }, async (rig) => {
      await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      const fast = await rig.wait('f', { lane: 'fast' })
      const upgrade = await rig.wait('a', { lane: 'slow' })
      await rig.release('b')
      asGranted(await upgrade.answer())
      assert.ok(fast.isOpen, 'the upgrader came first')
    }),
  ],
}

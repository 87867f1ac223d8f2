import assert from 'node:assert/strict'
import type { Acquire } from '../../../law/model/commands.ts'
import type { OutcomeOf } from '../../../law/model/outcomes.ts'
import { asGranted } from '../answers.ts'
import type { EngineRig } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'
import type { OpenWait } from './open-wait.ts'

type Wait = OpenWait<OutcomeOf<Acquire>>

async function waitInTurn(rig: EngineRig, owners: readonly string[]): Promise<Map<string, Wait>> {
  const waits = new Map<string, Wait>()
  for (const owner of owners) waits.set(owner, await rig.wait(owner))
  return waits
}

/** Within a lane, grants follow arrival order, leaving out those that left. */
export const queueOrderSuite: EngineSuite = {
  name: 'queue order',
  tests: [
    engineTest('waiters are granted in the order in which they came', async (rig) => {
      await rig.grant('holder')
      const owners = ['e', 'b', 'd', 'a', 'c']
      const waits = await waitInTurn(rig, owners)
      let holder = 'holder'
      for (const [owner, wait] of waits) {
        await rig.release(holder)
        asGranted(await wait.answer())
        assert.deepEqual(await rig.holders(), [owner])
        holder = owner
      }
    }),

    engineTest('a long queue is served in order', async (rig) => {
      await rig.grant('holder')
      const owners = Array.from({ length: 200 }, (_, index) => `owner-${(index * 71) % 200}`)
      const served: string[] = []
      const waits = owners.map(async (owner) => {
        const outcome = await rig.acquire(owner, { waitMs: Infinity })
        served.push(owner)
        asGranted(outcome)
        await rig.release(owner)
      })
      await rig.patience.until(
        async () => (await rig.inspect()).queueLength === owners.length,
        'all stand in the queue',
      )
      const arrived = await rig.read({ kind: 'inspect', key: 'k', queueLimit: owners.length })
      await rig.release('holder')
      await rig.patience.answer(Promise.all(waits), 'every waiter is served')
      assert.deepEqual(
        served,
        arrived.queue.map(({ owner }) => owner),
      )
    }),

    engineTest('positions count from one and move up', async (rig) => {
      await rig.grant('holder')
      await waitInTurn(rig, ['a', 'b', 'c'])
      const before = (await rig.inspect()).queue
      assert.deepEqual(
        before.map(({ owner, position }) => [owner, position]),
        [
          ['a', 1],
          ['b', 2],
          ['c', 3],
        ],
      )
      await rig.release('holder')
      const after = (await rig.inspect()).queue
      assert.deepEqual(
        after.map(({ owner, position }) => [owner, position]),
        [
          ['b', 1],
          ['c', 2],
        ],
      )
    }),

    engineTest('a request without a wait does not pass the queue', async (rig) => {
      await rig.grant('r1', { mode: 'read' })
      const writer = await rig.wait('w')
      await rig.refuse('r2', 'held', { mode: 'read' })
      await rig.release('r1')
      asGranted(await writer.answer())
    }),

    engineTest('a reader that waits does not pass a queued writer', async (rig) => {
      await rig.grant('r1', { mode: 'read' })
      const writer = await rig.wait('w')
      const reader = await rig.wait('r2', { mode: 'read' })
      assert.deepEqual(await rig.waiters(), ['w', 'r2'])
      await rig.release('r1')
      asGranted(await writer.answer())
      assert.ok(reader.isOpen, 'the writer came first')
      await rig.release('w')
      asGranted(await reader.answer())
    }),

    engineTest('readers that stand together are granted together', async (rig) => {
      await rig.grant('w1')
      const r1 = await rig.wait('r1', { mode: 'read' })
      const r2 = await rig.wait('r2', { mode: 'read' })
      const w2 = await rig.wait('w2')
      const r3 = await rig.wait('r3', { mode: 'read' })
      await rig.release('w1')
      asGranted(await r1.answer())
      asGranted(await r2.answer())
      assert.deepEqual(await rig.holders(), ['r1', 'r2'])
      await rig.release('r2')
      await rig.release('r1')
      asGranted(await w2.answer())
      assert.ok(r3.isOpen, 'the writer was before it')
      await rig.release('w2')
      asGranted(await r3.answer())
    }),

    engineTest('a stream of readers does not starve a writer', async (rig) => {
      await rig.grant('r0', { mode: 'read' })
      const writer = await rig.wait('w')
      for (let index = 1; index <= 10; index += 1) {
        await rig.wait(`r${index}`, { mode: 'read' })
      }
      await rig.release('r0')
      asGranted(await writer.answer())
      assert.deepEqual(await rig.holders(), ['w'])
    }),

    engineTest('a holder does not wait behind the queue it makes others wait in', async (rig) => {
      await rig.grant('r1', { mode: 'read' })
      const writer = await rig.wait('w')
      const again = await rig.grant('r1', { mode: 'read' })
      assert.equal(again.reads, 2)
      await rig.release('r1')
      assert.ok(writer.isOpen, 'one step is left')
      await rig.release('r1')
      asGranted(await writer.answer())
    }),

    engineTest('who leaves the middle of the queue leaves no gap', async (rig) => {
      await rig.grant('holder')
      const waits = await waitInTurn(rig, ['a', 'b', 'c'])
      await rig.cancel('b')
      assert.deepEqual(await rig.waiters(), ['a', 'c'])
      await rig.release('holder')
      asGranted(await (waits.get('a') as Wait).answer())
      await rig.release('a')
      asGranted(await (waits.get('c') as Wait).answer())
    }),

    engineTest('readers behind a writer that leaves are granted at once', async (rig) => {
      await rig.grant('r1', { mode: 'read' })
      await rig.wait('w')
      const r2 = await rig.wait('r2', { mode: 'read' })
      const r3 = await rig.wait('r3', { mode: 'read' })
      await rig.cancel('w')
      asGranted(await r2.answer())
      asGranted(await r3.answer())
      assert.deepEqual(await rig.holders(), ['r1', 'r2', 'r3'])
    }),

    engineTest('every request of an owner is granted with its first', async (rig) => {
      await rig.grant('holder')
      const b1 = await rig.wait('b')
      const c = await rig.wait('c')
      const b2 = await rig.wait('b')
      assert.equal((await rig.inspect()).queueLength, 3)
      await rig.release('holder')
      const first = asGranted(await b1.answer())
      const second = asGranted(await b2.answer())
      assert.equal(first.token, second.token)
      assert.equal((await rig.inspect()).holders[0]?.writes, 2)
      await rig.release('b')
      assert.ok(c.isOpen, 'one step is left')
      await rig.release('b')
      asGranted(await c.answer())
    }),

    engineTest('waiters of one key do not wait for those of another', async (rig) => {
      await rig.grant('a', { key: 'one' })
      await rig.grant('a', { key: 'two' })
      const one = await rig.wait('b', { key: 'one' })
      const two = await rig.wait('b', { key: 'two' })
      await rig.release('a', { key: 'two' })
      asGranted(await two.answer())
      assert.ok(one.isOpen, 'its own key is still held')
    }),
  ],
}

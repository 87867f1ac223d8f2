import assert from 'node:assert/strict'
import { asGranted, asRefused } from '../answers.ts'
import { type EngineRig, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

const OPTIONS = { needs: 'deadlocks' } as const

async function holdEach(rig: EngineRig, owners: readonly string[]): Promise<void> {
  for (const owner of owners) await rig.grant(owner, { key: `key-of-${owner}`, ttlMs: 20 * TTL_MS })
}

/** A wait that would close a cycle of parties is refused instead of queued. */
export const deadlockSuite: EngineSuite = {
  name: 'deadlock',
  tests: [
    engineTest('two that wait for each other are told so', OPTIONS, async (rig) => {
      await holdEach(rig, ['a', 'b'])
      const wait = await rig.wait('a', { key: 'key-of-b' })
      const closing = { key: 'key-of-a', requestId: 'closing', waitMs: Infinity }
      const refused = await rig.refuse('b', 'deadlock', closing)
      assert.deepEqual(refused.cycle, ['b', 'a'])
      assert.equal((await rig.inspect('key-of-a')).queueLength, 0)
      assert.ok(wait.isOpen, 'the first wait stands')
      await rig.release('b', { key: 'key-of-b' })
      asGranted(await wait.answer())
      await rig.release('a', { key: 'key-of-a' })
      await rig.refuse('b', 'deadlock', closing)
    }),

    engineTest('a circle of three is seen', OPTIONS, async (rig) => {
      await holdEach(rig, ['a', 'b', 'c'])
      await rig.wait('a', { key: 'key-of-b' })
      await rig.wait('b', { key: 'key-of-c' })
      const refused = await rig.refuse('c', 'deadlock', { key: 'key-of-a', waitMs: Infinity })
      assert.deepEqual(refused.cycle, ['c', 'a', 'b'])
    }),

    engineTest('owners of one party are one', OPTIONS, async (rig) => {
      await rig.grant('a1', { key: 'one', party: 'a' })
      await rig.grant('b1', { key: 'two', party: 'b' })
      await rig.wait('a2', { key: 'two', party: 'a' })
      const refused = await rig.refuse('b2', 'deadlock', {
        key: 'one',
        party: 'b',
        waitMs: Infinity,
      })
      assert.deepEqual(refused.cycle, ['b', 'a'])
    }),

    engineTest('a party does not wait for itself', OPTIONS, async (rig) => {
      await rig.grant('a1', { party: 'a' })
      const refused = await rig.refuse('a2', 'deadlock', { party: 'a', waitMs: Infinity })
      assert.deepEqual(refused.cycle, ['a'])
      assert.deepEqual(await rig.holders(), ['a1'])
    }),

    engineTest('an upgrade can close a circle', OPTIONS, async (rig) => {
      await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      await rig.grant('a', { key: 'other' })
      await rig.wait('b', { key: 'other' })
      await rig.refuse('a', 'deadlock', { mode: 'write', waitMs: Infinity })
      assert.deepEqual(await rig.holders(), ['a', 'b'])
    }),

    engineTest('who does not wait closes no circle', OPTIONS, async (rig) => {
      await holdEach(rig, ['a', 'b'])
      await rig.wait('a', { key: 'key-of-b' })
      await rig.refuse('b', 'held', { key: 'key-of-a' })
    }),

    engineTest('a circle is gone with the wait that made it', OPTIONS, async (rig) => {
      await holdEach(rig, ['a', 'b'])
      const first = await rig.wait('a', { key: 'key-of-b' })
      await rig.apply({ kind: 'cancel', key: 'key-of-b', owner: 'a' })
      asRefused(await first.answer(), 'cancelled')
      const second = await rig.wait('b', { key: 'key-of-a' })
      await rig.release('a', { key: 'key-of-a' })
      asGranted(await second.answer())
    }),

    engineTest('a circle is gone with the hold that made it', OPTIONS, async (rig) => {
      await rig.grant('a', { key: 'one', ttlMs: TTL_MS })
      await rig.grant('b', { key: 'two', ttlMs: 20 * TTL_MS })
      await rig.wait('a', { key: 'two' })
      await rig.advance(2 * TTL_MS)
      await rig.grant('c', { key: 'one' })
      const wait = await rig.wait('b', { key: 'one' })
      await rig.release('c', { key: 'one' })
      asGranted(await wait.answer())
    }),

    engineTest('waiting in a chain is no circle', OPTIONS, async (rig) => {
      await holdEach(rig, ['a', 'b', 'c'])
      await rig.wait('a', { key: 'key-of-b' })
      await rig.wait('b', { key: 'key-of-c' })
      await rig.wait('d', { key: 'key-of-a' })
      assert.deepEqual(await rig.waiters('key-of-a'), ['d'])
    }),

    engineTest('operations are not examined', OPTIONS, async (rig) => {
      asGranted(await rig.begin('pull', 'n1', { resource: 'one' }))
      asGranted(await rig.begin('pull', 'n2', { resource: 'two' }))
      await rig.waitToBegin('pull', 'n1', { resource: 'two' })
      await rig.waitToBegin('pull', 'n2', { resource: 'one' })
    }),
  ],
}

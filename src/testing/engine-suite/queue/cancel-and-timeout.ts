import assert from 'node:assert/strict'
import { isLockError } from '../../../engine/errors/errors.ts'
import type { Cancel } from '../../../law/model/commands.ts'
import type { Outcome } from '../../../law/model/outcomes.ts'
import { asGranted, asRefused, assertThrows } from '../answers.ts'
import { type EngineRig, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'
import { OpenWait } from './open-wait.ts'

const LONG_MS = 20 * TTL_MS
const CANCELLED = { kind: 'cancelled', cancelled: true }
const NOTHING_CANCELLED = { kind: 'cancelled', cancelled: false }

/** Of the pull of `layer` by a node. */
function cancelOf(node: string): Cancel {
  return { kind: 'cancel', namespace: 'operation', key: 'layer', owner: `pull:${node}` }
}

/** That a request was given up for good: it neither waits nor holds, now or when it is sent again. */
async function assertNeverHolds(rig: EngineRig, owner: string, requestId: string): Promise<void> {
  const standing = await rig.read({ kind: 'standing', key: 'k', owner })
  assert.equal(standing.holder, null)
  assert.deepEqual(standing.waiting, [])
  const replay = await rig.acquire(owner, { requestId, waitMs: Infinity })
  assert.equal(replay.kind, 'refused')
  assert.equal((await rig.read({ kind: 'standing', key: 'k', owner })).holder, null)
}

/** After an answer of time-out or cancel, that request never holds, however close the race was. */
export const cancelAndTimeoutSuite: EngineSuite = {
  name: 'cancel and time-out',
  tests: [
    engineTest(
      'a wait that reaches its deadline is refused and gives up its place',
      { needs: 'virtual-time' },
      async (rig) => {
        await rig.grant('a', { ttlMs: LONG_MS })
        const wait = await rig.wait('b', { waitMs: TTL_MS })
        await rig.advance(TTL_MS / 2)
        assert.ok(wait.isOpen, 'there is time left')
        await rig.advance(TTL_MS)
        const refused = asRefused(await wait.answer(), 'timeout')
        assert.equal(refused.holders?.[0]?.owner, 'a')
        assert.deepEqual(await rig.waiters(), [])
        await rig.release('a')
        assert.deepEqual(await rig.holders(), [])
        await assertNeverHolds(rig, 'b', wait.requestId)
      },
    ),

    engineTest(
      'a deadline that passes together with the lease never leaves a ghost',
      async (rig) => {
        await rig.grant('a')
        const b = await rig.wait('b', { waitMs: TTL_MS })
        const c = await rig.wait('c', { waitMs: LONG_MS })
        await rig.advance(2 * TTL_MS)
        const outcome = await b.answer()
        if (outcome.kind === 'granted') {
          assert.deepEqual(await rig.release('b'), { kind: 'released', reads: 0, writes: 0 })
        } else {
          asRefused(outcome, 'timeout')
          await assertNeverHolds(rig, 'b', b.requestId)
        }
        asGranted(await c.answer())
      },
    ),

    engineTest('a detached wait has a deadline too', async (rig) => {
      await rig.grant('a', { ttlMs: LONG_MS })
      await rig.queue('b', { requestId: '1', waitMs: TTL_MS })
      await rig.advance(2 * TTL_MS)
      assert.deepEqual(await rig.waiters(), [])
      await rig.refuse('b', 'timeout', { requestId: '1', waitMs: TTL_MS, detach: true })
    }),

    engineTest('a cancelled wait is refused and gives up its place', async (rig) => {
      await rig.grant('a')
      const wait = await rig.wait('b')
      assert.deepEqual(await rig.cancel('b', wait.requestId), CANCELLED)
      asRefused(await wait.answer(), 'cancelled')
      await rig.release('a')
      assert.deepEqual(await rig.holders(), [])
      await assertNeverHolds(rig, 'b', wait.requestId)
    }),

    engineTest('a wait whose client is gone is told from one that was cancelled', async (rig) => {
      await rig.grant('a')
      const wait = await rig.wait('b')
      const { requestId } = wait
      const cancel = { kind: 'cancel', key: 'k', owner: 'b', requestId } as const
      assert.deepEqual(await rig.apply({ ...cancel, reason: 'abandoned' }), CANCELLED)
      asRefused(await wait.answer(), 'abandoned')
      await rig.release('a')
      await rig.refuse('b', 'abandoned', { requestId, waitMs: Infinity })
      await assertNeverHolds(rig, 'b', requestId)
      await rig.grant('b')
    }),

    engineTest('a cancel of an operation says whether its client is gone', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      const wait = await rig.waitToBegin('pull', 'n2', { requestId: '1' })
      const cancel = cancelOf('n2')
      assert.deepEqual(await rig.apply({ ...cancel, reason: 'abandoned' }), CANCELLED)
      asRefused(await wait.answer(), 'abandoned')
      asRefused(await rig.begin('pull', 'n2', { requestId: '1' }), 'abandoned')
    }),

    engineTest('a cancel concerns one request of one owner on one key', async (rig) => {
      await rig.grant('a')
      const first = await rig.wait('b')
      const second = await rig.wait('b')
      await rig.wait('c')
      await rig.cancel('b', first.requestId)
      asRefused(await first.answer(), 'cancelled')
      assert.ok(second.isOpen, 'it was not meant')
      assert.deepEqual(await rig.waiters(), ['b', 'c'])
    }),

    engineTest('a cancel that names no request concerns all of its owner', async (rig) => {
      await rig.grant('a')
      const first = await rig.wait('b')
      const second = await rig.wait('b')
      await rig.wait('c')
      assert.deepEqual(await rig.cancel('b'), CANCELLED)
      asRefused(await first.answer(), 'cancelled')
      asRefused(await second.answer(), 'cancelled')
      assert.deepEqual(await rig.waiters(), ['c'])
      assert.deepEqual(await rig.cancel('b'), NOTHING_CANCELLED)
    }),

    engineTest('a cancel that overtakes its request still counts', async (rig) => {
      assert.deepEqual(await rig.cancel('a', '1'), NOTHING_CANCELLED)
      await rig.refuse('a', 'cancelled', { requestId: '1' })
      await rig.refuse('a', 'cancelled', { requestId: '1', waitMs: Infinity })
      assert.deepEqual(await rig.holders(), [])
      await rig.grant('a', { requestId: '2' })
    }),

    engineTest('a cancel that overtakes its operation still counts', async (rig) => {
      const cancel = cancelOf('n1')
      assert.deepEqual(await rig.apply({ ...cancel, requestId: '1' }), NOTHING_CANCELLED)
      asRefused(await rig.begin('pull', 'n1', { requestId: '1' }), 'cancelled')
      asGranted(await rig.begin('pull', 'n1', { requestId: '2' }))
    }),

    engineTest('a cancel without a request id leaves what was granted directly', async (rig) => {
      await rig.grant('a', { requestId: '1' })
      assert.deepEqual(await rig.cancel('a'), NOTHING_CANCELLED)
      assert.deepEqual(await rig.holders(), ['a'])
      await rig.grant('a', { requestId: '1' })
    }),

    engineTest('a cancelled request is undone even after its owner was told', async (rig) => {
      await rig.grant('a', { requestId: '1' })
      await rig.grant('a', { requestId: '2' })
      const next = await rig.wait('b')
      assert.deepEqual(await rig.cancel('a', '1'), CANCELLED)
      assert.deepEqual(await rig.holders(), ['a'], 'the other request still holds')
      assert.deepEqual(await rig.cancel('a', '2'), CANCELLED)
      asGranted(await next.answer())
      for (const requestId of ['1', '2']) {
        const replay = await rig.refuse('a', 'ended', { requestId })
        assert.equal(replay.end, 'cancelled')
      }
      assert.deepEqual(await rig.cancel('a', '1'), NOTHING_CANCELLED)
    }),

    engineTest('an abandoned request keeps a grant that its owner has taken', async (rig) => {
      await rig.grant('a', { requestId: '1' })
      const cancel = { kind: 'cancel', key: 'k', owner: 'a', requestId: '1' } as const
      assert.deepEqual(await rig.apply({ ...cancel, reason: 'abandoned' }), NOTHING_CANCELLED)
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('a cancelled operation that was granted ends, unless it is shared', async (rig) => {
      const cancel = (requestId: string): Promise<Outcome> =>
        rig.apply({ ...cancelOf('n1'), requestId })
      asGranted(await rig.begin('pull', 'n1', { requestId: '1' }))
      asGranted(await rig.begin('pull', 'n1', { requestId: '2' }))
      const next = await rig.waitToBegin('pull', 'n2')
      assert.deepEqual(await cancel('1'), NOTHING_CANCELLED)
      assert.ok(next.isOpen, 'the other request still holds')
      assert.deepEqual(await cancel('2'), CANCELLED)
      asGranted(await next.answer())
      for (const requestId of ['1', '2']) {
        assert.equal((await rig.begin('pull', 'n1', { requestId })).kind, 'refused')
      }
    }),

    engineTest('a cancel undoes a grant that was not yet taken', async (rig) => {
      await rig.grant('a')
      await rig.queue('b', { requestId: '1' })
      const next = await rig.wait('c')
      await rig.release('a')
      assert.deepEqual(await rig.holders(), ['b'])
      assert.deepEqual(await rig.cancel('b', '1'), CANCELLED)
      asGranted(await next.answer())
      const replay = await rig.refuse('b', 'ended', { requestId: '1' })
      assert.equal(replay.end, 'cancelled')
      assert.deepEqual(await rig.holders(), ['c'])
    }),

    engineTest('a cancel without a request id leaves a grant that was taken', async (rig) => {
      for (const [key, take] of [
        ['asked', () => rig.grant('b', { key: 'asked', requestId: '1' })],
        ['renewed', () => rig.renew('b', TTL_MS, { key: 'renewed' })],
      ] as const) {
        await rig.grant('a', { key })
        await rig.queue('b', { key, requestId: '1' })
        await rig.release('a', { key })
        await take()
        const cancelled = await rig.apply({ kind: 'cancel', key, owner: 'b' })
        assert.deepEqual(cancelled, NOTHING_CANCELLED)
        assert.deepEqual(await rig.holders(key), ['b'])
      }
    }),

    engineTest('an aborted wait gives up its place for good', async (rig) => {
      await rig.grant('a')
      const controller = new AbortController()
      const wait = await rig.wait('b', {}, { signal: controller.signal })
      const next = await rig.wait('c')
      controller.abort()
      await assertThrows(() => wait.answer(), 'LOCK_ABORTED')
      assert.deepEqual(await rig.waiters(), ['c'])
      await rig.release('a')
      asGranted(await next.answer())
      await assertNeverHolds(rig, 'b', wait.requestId)
    }),

    engineTest('a signal that is aborted already changes nothing', async (rig) => {
      const signal = AbortSignal.abort()
      const command = rig.toAcquire('a', { waitMs: Infinity })
      const wait = new OpenWait(command.requestId, rig.apply(command, { signal }), rig.patience)
      await assertThrows(() => wait.answer(), 'LOCK_ABORTED')
      assert.deepEqual(await rig.holders(), [])
      assert.equal((await rig.inspect()).queueLength, 0)
    }),

    engineTest('a signal that is aborted later does not touch what was granted', async (rig) => {
      const controller = new AbortController()
      const command = rig.toAcquire('a', { waitMs: Infinity })
      asGranted(await rig.apply(command, { signal: controller.signal }))
      controller.abort()
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('an aborted wait for an operation gives up its place', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      const controller = new AbortController()
      const command = rig.toBegin('pull', 'n2', { waitMs: LONG_MS })
      const answer = rig.apply(command, { signal: controller.signal })
      const wait = new OpenWait('pull:n2', answer, rig.patience)
      await rig.patience.until(
        async () => (await rig.inspectResource()).queueLength === 1,
        'the node stands in the queue',
      )
      controller.abort()
      await assertThrows(() => wait.answer(), 'LOCK_ABORTED')
      assert.equal((await rig.inspectResource()).queueLength, 0)
      await rig.fail('pull', 'n1')
      assert.deepEqual((await rig.inspectResource()).holders, [])
    }),

    engineTest('a cancel that races a release never leaves a ghost', async (rig) => {
      for (let round = 0; round < 30; round += 1) {
        await rig.grant('a')
        const b = await rig.wait('b')
        const c = await rig.wait('c')
        const both = [() => rig.cancel('b', b.requestId), () => rig.release('a')]
        await Promise.all((round % 2 === 0 ? both : both.toReversed()).map((call) => call()))
        const outcome = await b.answer()
        const holdsOrUndone = outcome.kind === 'granted'
        if (!holdsOrUndone) asRefused(outcome, 'cancelled')
        const holders = await rig.holders()
        if (holders.includes('b')) {
          assert.ok(holdsOrUndone, 'b was told that it is cancelled, and holds')
          await rig.release('b')
        }
        asGranted(await c.answer())
        await rig.release('c')
      }
    }),

    engineTest('an abort that races a release never leaves a ghost', async (rig) => {
      for (let round = 0; round < 30; round += 1) {
        await rig.grant('a')
        const controller = new AbortController()
        const b = await rig.wait('b', {}, { signal: controller.signal })
        const c = await rig.wait('c')
        const release = rig.release('a')
        if (round % 3 > 0) await Promise.resolve()
        if (round % 3 > 1) await release
        controller.abort()
        await release
        const outcome = await b.answer().catch((error: unknown) => error)
        if (isLockError(outcome, 'LOCK_ABORTED')) {
          assert.ok(!(await rig.holders()).includes('b'), 'b was aborted and holds')
        } else {
          assert.deepEqual(await rig.holders(), ['b'])
          await rig.release('b')
        }
        asGranted(await c.answer())
        await rig.release('c')
      }
    }),

    engineTest('a cancelled operation leaves the queue and may come back', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      const wait = await rig.waitToBegin('pull', 'n2')
      const cancel = cancelOf('n2')
      assert.deepEqual(await rig.apply(cancel), CANCELLED)
      asRefused(await wait.answer(), 'cancelled')
      assert.deepEqual(await rig.apply(cancel), NOTHING_CANCELLED)
      await rig.fail('pull', 'n1')
      assert.deepEqual((await rig.inspectResource()).holders, [])
      asGranted(await rig.begin('pull', 'n2'))
    }),

    engineTest('a cancelled operation gives back a grant that it did not take', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      await rig.begin('pull', 'n2')
      const next = await rig.waitToBegin('pull', 'n3')
      await rig.fail('pull', 'n1')
      const cancel = cancelOf('n2')
      assert.deepEqual(await rig.apply(cancel), CANCELLED)
      asGranted(await next.answer())
      asRefused(await rig.succeed('pull', 'n2'), 'not_holder')
    }),

    engineTest(
      'a cancel without a request id does not take back a running operation',
      async (rig) => {
        asGranted(await rig.begin('pull', 'n1'))
        const cancel = cancelOf('n1')
        assert.deepEqual(await rig.apply(cancel), NOTHING_CANCELLED)
        assert.equal((await rig.succeed('pull', 'n1')).kind, 'finished')
      },
    ),
  ],
}

import assert from 'node:assert/strict'
import { ENDED_PER_KEY_MAX, ENDED_REMEMBERED_MS } from '../../../law/model/limits.ts'
import { asGranted, asRefused } from '../answers.ts'
import { KEY, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'
import { OpenWait } from '../queue/open-wait.ts'

/** One request id: at most one queue entry, one grant, one step, one release. */
export const idempotencySuite: EngineSuite = {
  name: 'idempotency',
  tests: [
    engineTest('a grant that is asked for again is the same grant', async (rig) => {
      const first = await rig.grant('a', { requestId: '1' })
      const again = await rig.grant('a', { requestId: '1' })
      assert.equal(again.token, first.token)
      assert.deepEqual([again.reads, again.writes], [0, 1])
      assert.deepEqual(await rig.release('a'), { kind: 'released', reads: 0, writes: 0 })
      assert.deepEqual(await rig.holders(), [])
    }),

    engineTest('asking again for a grant renews its lease', async (rig) => {
      await rig.grant('a', { requestId: '1' })
      await rig.advance(TTL_MS / 2)
      rig.assertLeft((await rig.grant('a', { requestId: '1' })).leaseMs, TTL_MS)
      await rig.advance(0.8 * TTL_MS)
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('each step of a hold is known by its own id', async (rig) => {
      await rig.grant('a', { requestId: '1' })
      await rig.grant('a', { requestId: '2', mode: 'read' })
      const first = await rig.grant('a', { requestId: '1' })
      const second = await rig.grant('a', { requestId: '2', mode: 'read' })
      assert.deepEqual([first.reads, first.writes], [1, 1])
      assert.deepEqual([second.reads, second.writes], [1, 1])
      assert.deepEqual([first.mode, second.mode], ['write', 'read'])
    }),

    engineTest('an upgrade that is asked for again is the same upgrade', async (rig) => {
      await rig.grant('a', { requestId: '1', mode: 'read' })
      const upgraded = await rig.grant('a', { requestId: '2' })
      const again = await rig.grant('a', { requestId: '2' })
      assert.equal(again.token, upgraded.token)
      assert.deepEqual([again.reads, again.writes], [1, 1])
    }),

    engineTest('the same id in another mode is a bad request', async (rig) => {
      await rig.grant('a', { requestId: '1' })
      await rig.refuse('a', 'bad_request', { requestId: '1', mode: 'read' })
      await rig.wait('b', { requestId: '2' })
      await rig.refuse('b', 'bad_request', { requestId: '2', mode: 'read', waitMs: Infinity })
      const { holders, queue } = await rig.inspect()
      assert.deepEqual([holders[0]?.reads, holders[0]?.writes], [0, 1])
      assert.deepEqual(
        queue.map(({ owner, mode }) => [owner, mode]),
        [['b', 'write']],
      )
    }),

    engineTest('asking again while waiting does not queue twice', async (rig) => {
      await rig.grant('holder')
      await rig.queue('a', { requestId: '1' })
      await rig.queue('b', { requestId: '2' })
      assert.equal(await rig.queue('a', { requestId: '1' }), 1)
      assert.equal(await rig.queue('b', { requestId: '2' }), 2)
      assert.equal((await rig.inspect()).queueLength, 2)
      await rig.release('holder')
      assert.deepEqual(await rig.holders(), ['a'])
      assert.deepEqual(await rig.waiters(), ['b'])
    }),

    engineTest('two open calls of one request are answered the same', async (rig) => {
      await rig.grant('holder')
      const older = await rig.wait('a', { requestId: '1' })
      const command = rig.toAcquire('a', { requestId: '1', waitMs: Infinity })
      const newer = new OpenWait('1', rig.apply(command), rig.patience)
      assert.equal((await rig.inspect()).queueLength, 1)
      await rig.release('holder')
      const answers = [asGranted(await older.answer()), asGranted(await newer.answer())]
      assert.equal(answers[0]?.token, answers[1]?.token)
      assert.deepEqual(await rig.release('a'), { kind: 'released', reads: 0, writes: 0 })
    }),

    engineTest('a request that was released does not hold again', async (rig) => {
      await rig.grant('a', { requestId: '1' })
      await rig.release('a')
      const replay = await rig.refuse('a', 'ended', { requestId: '1' })
      assert.equal(replay.end, 'released')
      await rig.refuse('a', 'ended', { requestId: '1', waitMs: Infinity })
      assert.deepEqual(await rig.holders(), [])
    }),

    engineTest('a request whose hold expired does not hold again', async (rig) => {
      await rig.grant('a', { requestId: '1' })
      await rig.advance(1.5 * TTL_MS)
      const replay = await rig.refuse('a', 'ended', { requestId: '1' })
      assert.equal(replay.end, 'expired')
      assert.deepEqual(await rig.holders(), [])
    }),

    engineTest('a request whose hold an operator ended does not hold again', async (rig) => {
      await rig.grant('a', { requestId: '1' })
      await rig.apply({ kind: 'force', key: KEY })
      const replay = await rig.refuse('a', 'ended', { requestId: '1' })
      assert.equal(replay.end, 'forced')
      assert.deepEqual(await rig.holders(), [])
    }),

    engineTest('a late copy of a refused request never holds', async (rig) => {
      await rig.grant('a')
      await rig.refuse('b', 'held', { requestId: '1' })
      await rig.release('a')
      await rig.refuse('b', 'held', { requestId: '1' })
      await rig.refuse('b', 'held', { requestId: '1', waitMs: Infinity })
      assert.deepEqual(await rig.holders(), [])
      await rig.grant('b', { requestId: '2' })
    }),

    engineTest('a late copy of an upgrade that was refused never holds', async (rig) => {
      await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      await rig.refuse('a', 'held', { requestId: 'first' })
      const wait = await rig.wait('b', { requestId: 'waits' })
      await rig.refuse('a', 'upgrade_conflict', { requestId: 'second', waitMs: Infinity })
      await rig.cancel('b', wait.requestId)
      await rig.release('b')
      await rig.refuse('a', 'held', { requestId: 'first' })
      await rig.refuse('a', 'upgrade_conflict', { requestId: 'second', waitMs: Infinity })
      await rig.refuse('b', 'cancelled', { requestId: 'waits', waitMs: Infinity })
      const holder = (await rig.inspect()).holders[0]
      assert.deepEqual([holder?.owner, holder?.reads, holder?.writes], ['a', 1, 0])
    }),

    engineTest('a late copy of an ended request leaves the later hold alone', async (rig) => {
      await rig.grant('a', { requestId: '1' })
      await rig.release('a')
      const later = await rig.grant('a', { requestId: '2' })
      await rig.refuse('a', 'ended', { requestId: '1' })
      const holder = (await rig.inspect()).holders[0]
      assert.deepEqual([holder?.token, holder?.writes], [later.token, 1])
    }),

    engineTest('request ids belong to their key and their owner', async (rig) => {
      await rig.grant('a', { requestId: '1', mode: 'read' })
      await rig.grant('b', { requestId: '1', mode: 'read' })
      await rig.grant('a', { requestId: '1', key: 'another' })
      assert.deepEqual(await rig.holders(), ['a', 'b'])
      await rig.release('a')
      await rig.refuse('a', 'ended', { requestId: '1', mode: 'read' })
      await rig.grant('b', { requestId: '1', mode: 'read' })
      await rig.grant('a', { requestId: '1', key: 'another' })
      await rig.grant('c', { requestId: '1', mode: 'read' })
      await rig.grant('a', { requestId: '1', key: 'a third' })
    }),

    engineTest('a release that is sent again releases once', async (rig) => {
      await rig.grant('a')
      await rig.grant('a')
      const first = await rig.release('a', { requestId: 'r' })
      assert.deepEqual(first, { kind: 'released', reads: 0, writes: 1 })
      assert.deepEqual(await rig.release('a', { requestId: 'r' }), first)
      assert.equal((await rig.inspect()).holders[0]?.writes, 1)
    }),

    engineTest('a late copy of a release does not end the next hold', async (rig) => {
      await rig.grant('a')
      await rig.release('a', { requestId: 'r' })
      await rig.grant('a')
      const replay = await rig.release('a', { requestId: 'r' })
      assert.deepEqual(replay, { kind: 'released', reads: 0, writes: 0 })
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('a late copy of a refused release does not end the next hold', async (rig) => {
      await rig.grant('a')
      await rig.apply({ kind: 'force', key: KEY })
      const refused = asRefused(await rig.release('a', { requestId: 'r' }), 'not_holder')
      assert.equal(refused.end, 'forced')
      await rig.grant('a')
      assert.deepEqual(await rig.release('a', { requestId: 'r' }), refused)
      assert.deepEqual(await rig.holders(), ['a'])
      assert.equal((await rig.release('a', { requestId: 'another' })).kind, 'released')
    }),

    engineTest('a late copy of a refused finish does not end the next run', async (rig) => {
      asRefused(await rig.succeed('pull', 'n1', { requestId: 'f' }), 'not_holder')
      asGranted(await rig.begin('pull', 'n1'))
      asRefused(await rig.succeed('pull', 'n1', { requestId: 'f' }), 'not_holder')
      assert.deepEqual(await rig.references(), [])
      assert.deepEqual(
        (await rig.inspectResource()).holders.map(({ owner }) => owner),
        ['pull:n1'],
      )
    }),

    engineTest('the ids of acquires and releases do not meet', async (rig) => {
      await rig.grant('a', { requestId: '1' })
      assert.equal((await rig.release('a', { requestId: '1' })).kind, 'released')
      assert.deepEqual(await rig.holders(), [])
      await rig.refuse('a', 'ended', { requestId: '1' })
    }),

    engineTest('a finish that is sent again finishes once', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      await rig.succeed('pull', 'n1', { requestId: 'f' })
      await rig.apply({ kind: 'unref', node: 'n1', resource: 'layer' })
      const replay = await rig.succeed('pull', 'n1', { requestId: 'f' })
      assert.deepEqual(replay, { kind: 'finished', success: true })
      assert.deepEqual(await rig.references(), [])
    }),

    engineTest('an operation with an id of its own does not run twice', async (rig) => {
      asGranted(await rig.begin('pull', 'n1', { requestId: '1' }))
      await rig.fail('pull', 'n1')
      const replay = asRefused(await rig.begin('pull', 'n1', { requestId: '1' }), 'ended')
      assert.equal(replay.end, 'failed')
      asGranted(await rig.begin('pull', 'n1', { requestId: '2' }))
    }),

    engineTest('who joins a running operation does not run it again later', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      asGranted(await rig.begin('pull', 'n1', { requestId: 'joined' }))
      await rig.fail('pull', 'n1')
      const late = asRefused(await rig.begin('pull', 'n1', { requestId: 'joined' }), 'ended')
      assert.equal(late.end, 'failed')
      assert.deepEqual((await rig.inspectResource()).holders, [])
      asGranted(await rig.begin('pull', 'n1', { requestId: 'fresh' }))
    }),

    engineTest('who joins a waiting operation does not run it again later', async (rig) => {
      asGranted(await rig.begin('pull', 'n1'))
      await rig.begin('pull', 'n2')
      await rig.begin('pull', 'n2', { requestId: 'joined' })
      await rig.succeed('pull', 'n1', { value: '1' })
      await rig.unref('n2', 'layer')
      const late = await rig.begin('pull', 'n2', { requestId: 'joined' })
      assert.deepEqual(late, { kind: 'skip', value: '1' })
      assert.deepEqual(await rig.references(), ['n1'])
    }),

    engineTest(
      'ends are remembered for a minute and then forgotten',
      { needs: 'virtual-time' },
      async (rig) => {
        await rig.grant('a', { requestId: '1' })
        await rig.release('a')
        await rig.advance(ENDED_REMEMBERED_MS - 1_000)
        await rig.refuse('a', 'ended', { requestId: '1' })
        await rig.advance(2_000)
        await rig.grant('a', { requestId: '1' })
      },
    ),

    engineTest('ends are forgotten on a busy key too', { needs: 'virtual-time' }, async (rig) => {
      await rig.grant('reader', { mode: 'read', ttlMs: 4 * ENDED_REMEMBERED_MS })
      await rig.grant('a', { requestId: '1', mode: 'read' })
      await rig.release('a')
      await rig.refuse('b', 'held', { requestId: '2' })
      await rig.advance(ENDED_REMEMBERED_MS + 1_000)
      await rig.grant('a', { requestId: '1', mode: 'read' })
      await rig.release('a')
      await rig.release('reader')
      await rig.grant('b', { requestId: '2' })
    }),

    engineTest('a key remembers a bounded number of ends, the latest', async (rig) => {
      await rig.grant('a')
      for (let index = 0; index < 2 * ENDED_PER_KEY_MAX; index += 1) {
        await rig.refuse('b', 'held', { requestId: `refused-${index}` })
      }
      assert.ok((await rig.stats()).ended <= ENDED_PER_KEY_MAX)
      await rig.release('a')
      const last = `refused-${2 * ENDED_PER_KEY_MAX - 1}`
      await rig.refuse('b', 'held', { requestId: last })
      await rig.grant('b', { requestId: 'refused-0' })
    }),
  ],
}

import assert from 'node:assert/strict'
import { asGranted, asRefused } from '../answers.ts'
import { KEY, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'
import { takeTurns } from '../take-turns.ts'

/** Only a sole reader becomes the writer, and only one reader waits to. */
export const upgradeSuite: EngineSuite = {
  name: 'upgrade',
  tests: [
    engineTest('a sole reader becomes the writer', async (rig) => {
      const before = await rig.grant('a', { mode: 'read' })
      const upgraded = await rig.grant('a', { mode: 'write' })
      assert.deepEqual([upgraded.reads, upgraded.writes, upgraded.mode], [1, 1, 'write'])
      assert.ok(upgraded.token > before.token)
      await rig.refuse('b', 'held', { mode: 'read' })
    }),

    engineTest('a sole reader becomes the writer past a queue', async (rig) => {
      await rig.grant('a', { mode: 'read' })
      const writer = await rig.wait('w')
      await rig.grant('a', { mode: 'write' })
      assert.ok(writer.isOpen, 'the reader went first')
      await rig.release('a', { mode: 'write' })
      await rig.release('a', { mode: 'read' })
      asGranted(await writer.answer())
    }),

    engineTest('beside other readers an upgrade without a wait is refused', async (rig) => {
      const { token } = await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      await rig.refuse('a', 'held', { mode: 'write' })
      const { holders } = await rig.inspect()
      assert.deepEqual(
        holders.map(({ owner, reads, writes }) => [owner, reads, writes]),
        [
          ['a', 1, 0],
          ['b', 1, 0],
        ],
      )
      assert.equal(holders[0]?.token, token)
    }),

    engineTest('an upgrade waits ahead of every ordinary waiter', async (rig) => {
      await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      const writer = await rig.wait('w')
      const upgrade = await rig.wait('a', { mode: 'write' })
      assert.deepEqual(await rig.waiters(), ['a', 'w'])
      assert.equal((await rig.inspect()).queue[0]?.upgrade, true)
      await rig.release('b')
      const granted = asGranted(await upgrade.answer())
      assert.deepEqual([granted.reads, granted.writes], [1, 1])
      assert.ok(writer.isOpen, 'the upgrade went first')
    }),

    engineTest('a waiting upgrade keeps new readers out', async (rig) => {
      await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      const upgrade = await rig.wait('a', { mode: 'write' })
      await rig.refuse('c', 'held', { mode: 'read' })
      const reader = await rig.wait('d', { mode: 'read' })
      await rig.release('b')
      asGranted(await upgrade.answer())
      assert.ok(reader.isOpen, 'the upgrade went first')
      assert.deepEqual(await rig.holders(), ['a'])
    }),

    engineTest('a second upgrade is refused at once and keeps its read hold', async (rig) => {
      await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      const first = await rig.wait('a', { mode: 'write' })
      await rig.refuse('b', 'upgrade_conflict', { mode: 'write', waitMs: Infinity })
      assert.deepEqual(await rig.holders(), ['a', 'b'])
      assert.equal((await rig.inspect()).queueLength, 1)
      await rig.release('b')
      asGranted(await first.answer())
    }),

    engineTest('an upgrade that gives up leaves the way to another', async (rig) => {
      await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      const first = await rig.wait('a', { mode: 'write' })
      await rig.cancel('a', first.requestId)
      asRefused(await first.answer(), 'cancelled')
      const second = await rig.wait('b', { mode: 'write' })
      await rig.release('a')
      asGranted(await second.answer())
    }),

    engineTest(
      'an upgrade whose read hold expires is answered that it holds nothing',
      async (rig) => {
        await rig.grant('a', { mode: 'read', ttlMs: TTL_MS })
        await rig.grant('b', { mode: 'read', ttlMs: 10 * TTL_MS })
        const upgrade = await rig.wait('a', { mode: 'write', ttlMs: TTL_MS })
        await rig.advance(2 * TTL_MS)
        asRefused(await upgrade.answer(), 'not_holder')
        assert.deepEqual(await rig.holders(), ['b'])
        assert.equal((await rig.inspect()).queueLength, 0)
      },
    ),

    engineTest(
      'an upgrade whose read hold is ended by an operator leaves the queue',
      async (rig) => {
        await rig.grant('a', { mode: 'read' })
        await rig.grant('b', { mode: 'read' })
        const upgrade = await rig.wait('a', { mode: 'write' })
        await rig.apply({ kind: 'force', key: KEY, owner: 'a' })
        asRefused(await upgrade.answer(), 'not_holder')
        await rig.release('b')
        assert.deepEqual(await rig.holders(), [])
      },
    ),

    engineTest('an upgrade whose read hold is released leaves the queue', async (rig) => {
      await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      const upgrade = await rig.wait('a', { mode: 'write' })
      await rig.release('a', { mode: 'read' })
      asRefused(await upgrade.answer(), 'not_holder')
      assert.deepEqual(await rig.holders(), ['b'])
    }),

    engineTest('an upgrade whose time is up keeps its read hold', async (rig) => {
      const { token } = await rig.grant('a', { mode: 'read', ttlMs: 10 * TTL_MS })
      await rig.grant('b', { mode: 'read', ttlMs: 10 * TTL_MS })
      const upgrade = await rig.wait('a', { mode: 'write', waitMs: TTL_MS })
      await rig.advance(2 * TTL_MS)
      asRefused(await upgrade.answer(), 'timeout')
      await rig.release('b')
      const holder = (await rig.inspect()).holders[0]
      assert.deepEqual([holder?.owner, holder?.reads, holder?.writes], ['a', 1, 0])
      assert.equal(holder?.token, token)
    }),

    engineTest('an upgrade that left is a writer no more when it downgrades', async (rig) => {
      await rig.grant('a', { mode: 'read' })
      const { token } = await rig.grant('a', { mode: 'write' })
      const reader = await rig.wait('r', { mode: 'read' })
      assert.deepEqual(await rig.release('a', { mode: 'write', token }), {
        kind: 'released',
        reads: 1,
        writes: 0,
      })
      asGranted(await reader.answer())
      assert.deepEqual(await rig.holders(), ['a', 'r'])
    }),

    engineTest('no foreign writer comes between a read hold and its upgrade', async (rig) => {
      const before = await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      await rig.wait('w')
      const upgrade = await rig.wait('a', { mode: 'write' })
      await rig.release('b')
      const upgraded = asGranted(await upgrade.answer())
      assert.ok(upgraded.token > before.token)
      assert.deepEqual(await rig.holders(), ['a'])
      assert.deepEqual(await rig.waiters(), ['w'])
    }),

    engineTest(
      'an upgrade that is undone unheard leaves the token its owner knows',
      async (rig) => {
        const { token } = await rig.grant('a', { mode: 'read' })
        await rig.grant('b', { mode: 'read' })
        await rig.queue('a', { requestId: 'up' })
        await rig.release('b')
        const upgraded = (await rig.inspect()).holders[0]
        assert.deepEqual([upgraded?.reads, upgraded?.writes], [1, 1])
        await rig.cancel('a', 'up')
        const holder = (await rig.inspect()).holders[0]
        assert.deepEqual([holder?.reads, holder?.writes, holder?.token], [1, 0, token])
        assert.equal((await rig.renew('a', TTL_MS, { token })).kind, 'renewed')
        assert.ok((await rig.grant('a')).token > (upgraded?.token ?? Infinity))
      },
    ),

    engineTest('an aborted upgrade leaves the token its owner knows', async (rig) => {
      const { token } = await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      const controller = new AbortController()
      const wait = await rig.wait('a', {}, { signal: controller.signal })
      const release = rig.release('b')
      controller.abort()
      await release
      const outcome = await wait.answer().catch(() => undefined)
      const known = outcome?.kind === 'granted' ? outcome.token : token
      assert.equal((await rig.release('a', { token: known })).kind, 'released')
    }),

    engineTest(
      'an upgrade that is granted while its owner gives up leaves the token that its owner knows',
      async (rig) => {
        for (let turns = 0; turns < 12; turns += 1) {
          const { token } = await rig.grant('a', { mode: 'read' })
          const controller = new AbortController()
          const command = rig.toAcquire('a', { waitMs: Infinity })
          const asked = rig.apply(command, { signal: controller.signal }).catch(() => undefined)
          await takeTurns(turns)
          controller.abort()
          const outcome = await asked
          const known = outcome?.kind === 'granted' ? outcome : { token, writes: 0 }
          const holder = (await rig.inspect()).holders[0]
          assert.deepEqual([holder?.token, holder?.writes], [known.token, known.writes])
          for (let left = 1 + known.writes; left > 0; left -= 1) await rig.release('a')
        }
      },
    ),
  ],
}

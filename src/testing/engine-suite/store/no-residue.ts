import assert from 'node:assert/strict'
import { ENDED_REMEMBERED_MS } from '../../../law/model/limits.ts'
import { asGranted } from '../answers.ts'
import { type EngineRig, RESOURCE, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

const NOTHING = { keys: 0, holds: 0, waiters: 0, sessions: 0, references: 0, ended: 0 }
const RETENTION_MS = 30_000

/** Everything that is remembered for a while has been forgotten. */
async function forgetAll(rig: EngineRig): Promise<void> {
  await rig.advance(ENDED_REMEMBERED_MS + RETENTION_MS)
  await rig.advance(ENDED_REMEMBERED_MS + RETENTION_MS)
  await rig.apply({ kind: 'sweep' })
}

/** What the engine has; what it and its journal have done is no residue. */
async function kept(rig: EngineRig): Promise<typeof NOTHING> {
  const { journal: _, events: __, ...rest } = await rig.stats()
  return rest
}

const OPTIONS = { needs: 'virtual-time', settings: { retentionMs: RETENTION_MS } } as const

/** An idle key with no holder, waiter, reference or memory costs nothing of its own. */
export const noResidueSuite: EngineSuite = {
  name: 'no residue',
  tests: [
    engineTest('locks that were released leave nothing', OPTIONS, async (rig) => {
      for (let index = 0; index < 100; index += 1) {
        const key = `key-${index}`
        await rig.grant('a', { key })
        await rig.refuse('b', 'held', { key })
        await rig.release('a', { key, requestId: 'r' })
      }
      assert.equal((await rig.stats()).holds, 0)
      await forgetAll(rig)
      assert.deepEqual(await kept(rig), NOTHING)
    }),

    engineTest('locks that expired leave nothing', OPTIONS, async (rig) => {
      for (let index = 0; index < 100; index += 1) {
        await rig.grant('a', { key: `key-${index}`, ttlMs: TTL_MS + index * 10 })
        await rig.queue('b', { key: `key-${index}`, waitMs: TTL_MS / 2 })
      }
      await rig.advance(2 * TTL_MS)
      assert.deepEqual((await rig.read({ kind: 'list' })).locks, [])
      await forgetAll(rig)
      assert.deepEqual(await kept(rig), NOTHING)
    }),

    engineTest('waits that ended leave nothing', OPTIONS, async (rig) => {
      await rig.grant('holder', { ttlMs: 20 * TTL_MS })
      const cancelled = await rig.wait('a')
      const timedOut = await rig.wait('b', { waitMs: TTL_MS })
      await rig.queue('c')
      await rig.cancel('a')
      await cancelled.answer()
      await rig.advance(2 * TTL_MS)
      await timedOut.answer()
      await rig.cancel('nobody', 'never sent')
      await rig.release('holder')
      await rig.release('c')
      assert.equal((await rig.stats()).waiters, 0)
      await forgetAll(rig)
      assert.deepEqual(await kept(rig), NOTHING)
    }),

    engineTest('sessions that ended leave nothing', OPTIONS, async (rig) => {
      for (let index = 0; index < 20; index += 1) {
        await rig.openSession(`s-${index}`, TTL_MS)
        await rig.grant(`a-${index}`, { key: `key-${index}`, session: `s-${index}` })
        await rig.queue(`b-${index}`, { key: 'key-0', session: `s-${index}` })
      }
      await rig.apply({ kind: 'close-session', session: 's-0' })
      await rig.advance(3 * TTL_MS)
      const { holds, waiters, sessions } = await rig.stats()
      assert.deepEqual([holds, waiters, sessions], [0, 0, 0])
      await forgetAll(rig)
      assert.deepEqual(await kept(rig), NOTHING)
    }),

    engineTest(
      'operations leave their references, and after those nothing',
      OPTIONS,
      async (rig) => {
        for (let index = 0; index < 20; index += 1) {
          const resource = `resource-${index}`
          await rig.complete('pull', 'n1', { resource, value: '1' })
          await rig.begin('pull', 'n2', { resource })
          asGranted(await rig.begin('build', 'n3', { resource }))
          await rig.begin('build', 'n4', { resource })
          await rig.fail('build', 'n3', { resource, requestId: 'f' })
        }
        await rig.advance(2 * TTL_MS)
        assert.equal((await rig.stats()).references, 40)
        await forgetAll(rig)
        const { keys, references, ended } = await rig.stats()
        assert.deepEqual([keys, references, ended], [20, 40, 0])
        await rig.unref('n1')
        await rig.unref('n2')
        await forgetAll(rig)
        assert.deepEqual(await kept(rig), NOTHING)
      },
    ),

    engineTest('a delete leaves nothing', OPTIONS, async (rig) => {
      await rig.complete('pull', 'n1')
      await rig.unref('n1', RESOURCE)
      await rig.complete('delete', 'n1')
      await forgetAll(rig)
      assert.deepEqual(await kept(rig), NOTHING)
    }),

    engineTest('asking and reading in vain leaves nothing', OPTIONS, async (rig) => {
      for (let index = 0; index < 50; index += 1) {
        const key = `key-${index}`
        await rig.inspect(key)
        await rig.release('a', { key, token: 1 })
        await rig.renew('a', TTL_MS, { key })
        await rig.apply({ kind: 'force', key })
        await rig.unref('n', key)
        await rig.succeed('pull', 'n', { resource: key, token: 1 })
        await rig.apply({ kind: 'cancel', namespace: 'operation', key, owner: 'pull:n' })
        await rig.refuse('a', 'no_session', { key, session: 'nobody' })
      }
      assert.deepEqual(await kept(rig), NOTHING)
    }),

    engineTest('releases in vain leave nothing', OPTIONS, async (rig) => {
      for (let index = 0; index < 50; index += 1) {
        await rig.release('a', { key: `key-${index}`, requestId: 'r' })
        await rig.succeed('pull', 'n', { resource: `key-${index}`, requestId: 'f' })
      }
      const { keys, ended } = await rig.stats()
      assert.deepEqual([keys, ended], [100, 100])
      await forgetAll(rig)
      assert.deepEqual(await kept(rig), NOTHING)
    }),

    engineTest('holds, waiters, sessions and references are gone when they end', async (rig) => {
      await rig.openSession('s', 60_000)
      await rig.grant('a', { session: 's' })
      const wait = await rig.wait('b')
      await rig.complete('pull', 'n1')
      await rig.release('a')
      await wait.answer()
      await rig.release('b')
      await rig.unref('n1')
      await rig.apply({ kind: 'close-session', session: 's' })
      const { holds, waiters, sessions, references } = await rig.stats()
      assert.deepEqual([holds, waiters, sessions, references], [0, 0, 0, 0])
    }),
  ],
}

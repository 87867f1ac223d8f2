import assert from 'node:assert/strict'
import type { ListQuery } from '../../../engine/queries.ts'
import { asGranted } from '../answers.ts'
import { type EngineRig, KEY, RESOURCE, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

async function listKeys(rig: EngineRig, query: Omit<ListQuery, 'kind'> = {}): Promise<string[]> {
  const { locks } = await rig.read({ kind: 'list', ...query })
  return locks.map(({ key }) => key)
}

/** In the order of their bytes, which is neither that of a dictionary nor that of JavaScript. */
const ORDERED_KEYS = [
  'A',
  'B',
  'Z',
  '_',
  'a',
  'a ',
  'a/',
  'aa',
  'b',
  'z',
  '\u00e1',
  '\uffee',
  '\u{1f512}',
]

/** What is read is true, complete, in order, and changes nothing. */
export const readsSuite: EngineSuite = {
  name: 'reads',
  tests: [
    engineTest('a free key is an answer with empty lists', async (rig) => {
      assert.deepEqual(await rig.inspect('never seen'), {
        namespace: 'lock',
        key: 'never seen',
        token: null,
        holders: [],
        queue: [],
        queueLength: 0,
        references: [],
        remembered: [],
      })
      const resource = await rig.inspectResource('never seen')
      assert.deepEqual([resource.namespace, resource.holders], ['operation', []])
      assert.deepEqual(await rig.references('never seen'), [])
      const standing = await rig.read({ kind: 'standing', key: KEY, owner: 'a' })
      assert.deepEqual(standing, { holder: null, waiting: [] })
      assert.equal((await rig.stats()).keys, 0)
    }),

    engineTest('a holder is shown with all that is known of it', async (rig) => {
      await rig.openSession('s', 60_000)
      const meta = '{"host":"web-1"}'
      const { token } = await rig.grant('a', { session: 's', meta, ttlMs: 3 * TTL_MS })
      await rig.advance(TTL_MS)
      const holder = (await rig.inspect()).holders[0]
      assert.deepEqual(
        [holder?.owner, holder?.mode, holder?.reads, holder?.writes, holder?.token],
        ['a', 'write', 0, 1, token],
      )
      assert.deepEqual([holder?.session, holder?.meta], ['s', meta])
      assert.ok((holder?.heldMs ?? 0) >= rig.ms(TTL_MS) * 0.9, `held for ${holder?.heldMs} ms`)
      rig.assertLeft(holder?.leaseMs ?? 0, 2 * TTL_MS)
    }),

    engineTest('a waiter is shown with all that is known of it', async (rig) => {
      await rig.grant('a', { mode: 'read' })
      await rig.wait('b', { requestId: '1' })
      await rig.wait('c', { requestId: '2', mode: 'read' })
      const { queue, queueLength } = await rig.inspect()
      assert.deepEqual(
        queue.map(({ owner, requestId, mode, position, upgrade }) => ({
          owner,
          requestId,
          mode,
          position,
          upgrade,
        })),
        [
          { owner: 'b', requestId: '1', mode: 'write', position: 1, upgrade: false },
          { owner: 'c', requestId: '2', mode: 'read', position: 2, upgrade: false },
        ],
      )
      assert.equal(queueLength, 2)
    }),

    engineTest('a long queue is shown as far as asked', async (rig) => {
      await rig.grant('holder')
      for (let index = 0; index < 120; index += 1) await rig.queue(`owner-${index}`)
      const usual = await rig.inspect()
      assert.deepEqual([usual.queue.length, usual.queueLength], [100, 120])
      const few = await rig.read({ kind: 'inspect', key: KEY, queueLimit: 2 })
      assert.deepEqual(
        few.queue.map(({ owner, position }) => [owner, position]),
        [
          ['owner-0', 1],
          ['owner-1', 2],
        ],
      )
      assert.equal(few.queueLength, 120)
      const all = await rig.read({ kind: 'inspect', key: KEY, queueLimit: 1_000 })
      assert.equal(all.queue.length, 120)
    }),

    engineTest('an operation is shown with its type, node and version', async (rig) => {
      asGranted(await rig.begin('update', 'n1', { version: '7' }))
      await rig.waitToBegin('pull', 'n2', { version: '8' })
      const { namespace, holders, queue } = await rig.inspectResource()
      assert.equal(namespace, 'operation')
      const [holder] = holders
      const [waiter] = queue
      assert.deepEqual([holder?.type, holder?.node, holder?.version], ['update', 'n1', '7'])
      assert.deepEqual([waiter?.type, waiter?.node, waiter?.version], ['pull', 'n2', '8'])
    }),

    engineTest('a remembered success is shown', async (rig) => {
      await rig.complete('pull', 'n1', { version: '1', value: '"v"' })
      const { remembered, references } = await rig.inspectResource()
      const [success] = remembered
      assert.deepEqual(
        [success?.type, success?.node, success?.version, success?.value, success?.skips],
        ['pull', 'n1', '1', '"v"', true],
      )
      assert.deepEqual(references, ['n1'])
    }),

    engineTest('a standing is that of one owner', async (rig) => {
      const { token } = await rig.grant('a', { mode: 'read' })
      await rig.grant('b', { mode: 'read' })
      await rig.wait('a', { requestId: 'up' })
      await rig.wait('c')
      const { holder, waiting } = await rig.read({ kind: 'standing', key: KEY, owner: 'a' })
      assert.deepEqual([holder?.owner, holder?.token, holder?.reads], ['a', token, 1])
      assert.deepEqual(
        waiting.map(({ requestId, upgrade, position }) => [requestId, upgrade, position]),
        [['up', true, 1]],
      )
      const other = await rig.read({ kind: 'standing', key: KEY, owner: 'c' })
      assert.equal(other.holder, null)
      assert.equal(other.waiting[0]?.position, 2)
    }),

    engineTest('a list is in the order of bytes', async (rig) => {
      for (const key of ORDERED_KEYS.toReversed()) await rig.grant('a', { key })
      assert.deepEqual(await listKeys(rig), ORDERED_KEYS)
    }),

    engineTest('a list has the lock before the operation of the same name', async (rig) => {
      asGranted(await rig.begin('pull', 'n1', { resource: 'b' }))
      await rig.grant('a', { key: 'c' })
      await rig.grant('a', { key: 'b' })
      asGranted(await rig.begin('pull', 'n1', { resource: 'a' }))
      const { locks } = await rig.read({ kind: 'list' })
      assert.deepEqual(
        locks.map(({ key, namespace }) => [key, namespace]),
        [
          ['a', 'operation'],
          ['b', 'lock'],
          ['b', 'operation'],
          ['c', 'lock'],
        ],
      )
      assert.deepEqual(await listKeys(rig, { namespace: 'lock' }), ['b', 'c'])
      assert.deepEqual(await listKeys(rig, { namespace: 'operation' }), ['a', 'b'])
    }),

    engineTest('a prefix is compared byte by byte', async (rig) => {
      const keys = ['team1/a', 'team1/b', 'team10/a', 'Team1/a', 'team1', 'te%m1/a', 'te_m1/a']
      for (const key of keys) await rig.grant('a', { key })
      assert.deepEqual(await listKeys(rig, { prefix: 'team1/' }), ['team1/a', 'team1/b'])
      assert.deepEqual(await listKeys(rig, { prefix: 'te%' }), ['te%m1/a'])
      assert.deepEqual(await listKeys(rig, { prefix: 'te_' }), ['te_m1/a'])
      assert.deepEqual(await listKeys(rig, { prefix: 'team1*' }), [])
      assert.deepEqual(await listKeys(rig, { prefix: 'nothing' }), [])
    }),

    engineTest(
      'a prefix finds whatever follows it, up to the last character there is',
      async (rig) => {
        const last = '\u{10ffff}'
        const found = ['p', 'p1', 'p\u{1f512}', `p${last}`, `p${last}x`, `p${last}${last}`]
        for (const key of [...found, 'o', 'q', last, `${last}x`]) await rig.grant('a', { key })
        assert.deepEqual(await listKeys(rig, { prefix: 'p' }), found)
        assert.deepEqual(await listKeys(rig, { prefix: `p${last}` }), found.slice(3))
        assert.deepEqual(await listKeys(rig, { prefix: last }), [last, `${last}x`])
      },
    ),

    engineTest('a prefix finds no name that only comes after it', async (rig) => {
      const keys = ['a\ud7ff', 'a\ud7ffx', 'a\ue000', 'a\uffff', 'a\u{10000}']
      for (const key of keys) await rig.grant('a', { key })
      assert.deepEqual(await listKeys(rig, { prefix: 'a\ud7ff' }), keys.slice(0, 2))
      assert.deepEqual(await listKeys(rig, { prefix: 'a\ue000' }), ['a\ue000'])
      assert.deepEqual(await listKeys(rig, { prefix: 'a\uffff' }), ['a\uffff'])
    }),

    engineTest('a list can be that of one owner', async (rig) => {
      await rig.grant('a', { key: 'held' })
      await rig.grant('b', { key: 'waited for' })
      await rig.queue('a', { key: 'waited for' })
      await rig.grant('b', { key: 'foreign' })
      assert.deepEqual(await listKeys(rig, { owner: 'a' }), ['held', 'waited for'])
      assert.deepEqual(await listKeys(rig, { owner: 'nobody' }), [])
    }),

    engineTest('a list shows what is held or waited for and nothing else', async (rig) => {
      await rig.grant('a', { key: 'freed' })
      await rig.release('a', { key: 'freed' })
      await rig.complete('pull', 'n1', { resource: 'remembered' })
      await rig.grant('a', { key: 'held' })
      await rig.grant('a', { key: 'expired', ttlMs: TTL_MS / 2 })
      await rig.advance(0.75 * TTL_MS)
      assert.deepEqual(await listKeys(rig), ['held'])
    }),

    engineTest('a list comes in pages without gaps and repetitions', async (rig) => {
      const keys = Array.from({ length: 25 }, (_, index) => `key-${String(index).padStart(2, '0')}`)
      for (const key of keys) await rig.grant('a', { key })
      asGranted(await rig.begin('pull', 'n1', { resource: 'key-09' }))
      const seen: string[] = []
      let cursor: string | null | undefined
      do {
        const page: { locks: readonly { key: string }[]; cursor: string | null } = await rig.read({
          kind: 'list',
          limit: 10,
          cursor: cursor ?? undefined,
        })
        assert.ok(page.locks.length <= 10)
        seen.push(...page.locks.map(({ key }) => key))
        cursor = page.cursor
      } while (cursor !== null && seen.length < 100)
      assert.deepEqual(seen, [...keys, 'key-09'].toSorted())
    }),

    engineTest('a page goes on where the one before ended, whatever changed', async (rig) => {
      for (const key of ['a', 'b', 'c', 'd', 'e']) await rig.grant('a', { key })
      const first = await rig.read({ kind: 'list', limit: 2 })
      await rig.release('a', { key: 'b' })
      await rig.release('a', { key: 'c' })
      await rig.grant('a', { key: 'aa' })
      const second = await rig.read({ kind: 'list', limit: 10, cursor: first.cursor ?? undefined })
      assert.deepEqual(
        second.locks.map(({ key }) => key),
        ['d', 'e'],
      )
      assert.equal(second.cursor, null)
    }),

    engineTest('stats count what there is', async (rig) => {
      await rig.openSession('s', 60_000)
      await rig.grant('a', { mode: 'read', session: 's' })
      await rig.grant('b', { mode: 'read' })
      await rig.queue('c')
      await rig.complete('pull', 'n1')
      await rig.begin('pull', 'n2')
      const stats = await rig.stats()
      assert.deepEqual([stats.holds, stats.waiters, stats.sessions, stats.references], [2, 1, 1, 2])
      assert.ok(stats.keys >= 2, `${stats.keys} keys`)
    }),

    engineTest('a read sees every answered command', async (rig) => {
      for (let round = 0; round < 30; round += 1) {
        await rig.grant('a')
        assert.deepEqual(await rig.holders(), ['a'])
        await rig.release('a')
        assert.deepEqual(await rig.holders(), [])
      }
    }),

    engineTest('reading changes nothing', async (rig) => {
      await rig.grant('a')
      await rig.queue('b', { requestId: '1' })
      await rig.complete('pull', 'n1')
      const before = [await rig.inspect(), await rig.inspectResource(), await rig.stats()]
      for (let round = 0; round < 5; round += 1) {
        await rig.read({ kind: 'list' })
        await rig.read({ kind: 'standing', key: KEY, owner: 'b' })
        await rig.inspect('unknown')
        await rig.references(RESOURCE)
        await rig.references('unknown')
        await rig.inspectResource('unknown')
      }
      const after = [await rig.inspect(), await rig.inspectResource(), await rig.stats()]
      if (rig.isVirtual) assert.deepEqual(after, before)
      else assert.deepEqual(after[2], before[2])
    }),
  ],
}

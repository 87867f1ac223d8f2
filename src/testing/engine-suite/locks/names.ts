import assert from 'node:assert/strict'
import { ID_BYTES_MAX, KEY_BYTES_MAX, OWNER_BYTES_MAX } from '../../../engine/validation/limits.ts'
import { asGranted } from '../answers.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

/**
 * Names that stores have been known to confuse: by case, by accents and their two spellings, by blanks
 * at the end, by patterns, paths, separators and escapes, and by what JavaScript keeps on every object.
 */
const NASTY_NAMES: readonly string[] = [
  'a',
  'A',
  '\u00e1',
  'a\u0301',
  '\u00df',
  'ss',
  'a ',
  ' a',
  'a  ',
  '\u00a0a',
  '{a}',
  '{a}b',
  'a/b',
  'a//b',
  '../a',
  './a',
  '/a',
  'a/',
  '.',
  '..',
  'a:b',
  'a:',
  ':a',
  'a|b',
  'a,b',
  'a;b',
  'a\\b',
  'a%b',
  '%',
  '_',
  'a_b',
  '*',
  'a*',
  '[a]',
  '?',
  '%00',
  '\\u0000',
  '%61',
  '&#97;',
  '"a"',
  "'a'",
  "a'; DROP TABLE locks; --",
  '`a`',
  '$a',
  '#a',
  '0',
  '00',
  '1e3',
  '1000',
  'null',
  'undefined',
  'true',
  'NaN',
  '[object Object]',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'I',
  '\u0130',
  '\u0131',
  '\uff41',
  '\ufeffa',
  'a\u200b',
  '\u202ea',
  '\u2028',
  '\uffee',
  '\u{1f512}',
  '\u{1f469}\u200d\u{1f680}',
  '\u{10ffff}',
  'pull:n',
  'k'.repeat(OWNER_BYTES_MAX),
  `${'k'.repeat(OWNER_BYTES_MAX - 1)}K`,
]

/** As many bytes as a key may have, in characters of one, three and four bytes. */
const LONGEST_KEYS: readonly string[] = [
  'x'.repeat(KEY_BYTES_MAX),
  `${'\u20ac'.repeat(Math.floor(KEY_BYTES_MAX / 3))}xx`,
  '\u{1f512}'.repeat(KEY_BYTES_MAX / 4),
]

/** Two names are the same if their bytes are, everywhere. */
export const namesSuite: EngineSuite = {
  name: 'names',
  tests: [
    engineTest('every key is a lock of its own', async (rig) => {
      const keys = [...NASTY_NAMES, ...LONGEST_KEYS]
      for (const [index, key] of keys.entries()) {
        const { token } = await rig.grant(`owner-${index}`, { key })
        const shown = await rig.inspect(key)
        assert.equal(shown.key, key)
        assert.deepEqual(
          shown.holders.map((holder) => [holder.owner, holder.token]),
          [[`owner-${index}`, token]],
        )
      }
      assert.equal((await rig.stats()).holds, keys.length)
      for (const [index, key] of keys.entries()) {
        await rig.refuse('stranger', 'held', { key })
        assert.equal((await rig.release(`owner-${index}`, { key })).kind, 'released')
        assert.deepEqual(await rig.holders(key), [])
      }
    }),

    engineTest('every owner is an owner of its own', async (rig) => {
      for (const owner of NASTY_NAMES) await rig.grant(owner, { mode: 'read' })
      assert.deepEqual((await rig.holders()).toSorted(), NASTY_NAMES.toSorted())
      for (const [index, owner] of NASTY_NAMES.entries()) {
        assert.equal((await rig.release(owner)).kind, 'released')
        assert.equal((await rig.holders()).length, NASTY_NAMES.length - index - 1)
      }
    }),

    engineTest('every waiter is known by its own name', async (rig) => {
      await rig.grant('holder')
      for (const owner of NASTY_NAMES) await rig.queue(owner, { requestId: owner })
      const { queue } = await rig.read({ kind: 'inspect', key: 'k', queueLimit: 1_000 })
      assert.deepEqual(
        queue.map(({ owner, requestId }) => [owner, requestId]),
        NASTY_NAMES.map((owner) => [owner, owner]),
      )
    }),

    engineTest('every request id is an id of its own', async (rig) => {
      await rig.grant('a')
      for (const requestId of NASTY_NAMES.slice(0, 60)) {
        await rig.refuse('b', 'held', { requestId })
      }
      await rig.release('a')
      await rig.refuse('b', 'held', { requestId: 'a ' })
      await rig.grant('b', { requestId: 'a   ' })
      const { reads, writes } = await rig.grant('b', { requestId: 'B' })
      assert.deepEqual([reads, writes], [0, 2])
      assert.equal((await rig.grant('b', { requestId: 'b' })).writes, 3)
    }),

    engineTest('every resource and node is one of its own', async (rig) => {
      for (const resource of NASTY_NAMES) {
        asGranted(await rig.begin('pull', 'n', { resource }))
        await rig.succeed('pull', 'n', { resource })
      }
      for (const resource of NASTY_NAMES) {
        assert.deepEqual(await rig.references(resource), ['n'])
      }
      await rig.complete('pull', 'n', { resource: 'shared' })
      for (const node of NASTY_NAMES) {
        assert.equal((await rig.begin('pull', node, { resource: 'shared' })).kind, 'skip')
      }
      const expected = ['n', ...NASTY_NAMES].toSorted()
      assert.deepEqual(await rig.references('shared'), expected)
      for (const node of NASTY_NAMES) await rig.unref(node, 'shared')
      assert.deepEqual(await rig.references('shared'), ['n'])
    }),

    engineTest('every session is a session of its own', async (rig) => {
      for (const session of NASTY_NAMES) {
        const opened = await rig.openSession(session, 60_000)
        assert.deepEqual(opened, { kind: 'session-opened', resumed: false })
      }
      assert.equal((await rig.stats()).sessions, NASTY_NAMES.length)
      await rig.apply({ kind: 'close-session', session: 'A' })
      await rig.grant('a', { session: 'a' })
      await rig.refuse('b', 'no_session', { session: 'A', key: 'other' })
    }),

    engineTest('every version is a version of its own', async (rig) => {
      await rig.complete('update', 'n', { version: 'a' })
      for (const version of ['A', 'a ', ' a', '\u00e1', '\uff41']) {
        asGranted(await rig.begin('update', 'n2', { version }))
        await rig.fail('update', 'n2')
      }
      assert.equal((await rig.begin('update', 'n2', { version: 'a' })).kind, 'skip')
    }),

    engineTest('a lock and an operation of the same name are strangers', async (rig) => {
      await rig.grant('a', { key: 'same' })
      asGranted(await rig.begin('pull', 'n1', { resource: 'same' }))
      await rig.release('a', { key: 'same' })
      assert.equal((await rig.inspectResource('same')).holders.length, 1)
      await rig.grant('pull:n1', { key: 'same' })
      await rig.succeed('pull', 'n1', { resource: 'same' })
      assert.deepEqual(await rig.holders('same'), ['pull:n1'])
      await rig.apply({ kind: 'force', key: 'same', namespace: 'operation' })
      assert.deepEqual(await rig.holders('same'), ['pull:n1'])
      await rig.apply({ kind: 'force', key: 'same' })
      assert.deepEqual(await rig.holders('same'), [])
    }),

    engineTest('names that join to the same text stay apart', async (rig) => {
      await rig.grant('b:c', { key: 'a', requestId: '1' })
      await rig.grant('c', { key: 'a:b', requestId: '1' })
      await rig.grant('x', { key: 'ids', mode: 'read', requestId: 'y:z' })
      await rig.grant('x:y', { key: 'ids', mode: 'read', requestId: 'z' })
      assert.deepEqual(await rig.holders('ids'), ['x', 'x:y'])
      await rig.release('c', { key: 'a:b' })
      assert.deepEqual(await rig.holders('a'), ['b:c'])
    }),

    engineTest('names of full length are kept whole', async (rig) => {
      const owner = '\u{1f512}'.repeat(OWNER_BYTES_MAX / 4)
      const requestId = '\u20ac'.repeat(Math.floor(ID_BYTES_MAX / 3))
      const key = LONGEST_KEYS[2] ?? ''
      await rig.grant(owner, { key, requestId })
      await rig.grant(owner, { key, requestId })
      const { locks } = await rig.read({ kind: 'list', owner })
      assert.deepEqual(
        locks.map((lock) => [lock.key, lock.holders[0]?.owner, lock.holders[0]?.writes]),
        [[key, owner, 1]],
      )
      await rig.grant(owner, { key: key.slice(0, -2), requestId })
    }),
  ],
}

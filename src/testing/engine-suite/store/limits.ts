import assert from 'node:assert/strict'
import type { Query } from '../../../engine/queries.ts'
import type { Command } from '../../../law/model/commands.ts'
import {
  ERROR_BYTES_MAX,
  GRACE_MS_MAX,
  GRACE_MS_MIN,
  ID_BYTES_MAX,
  KEY_BYTES_MAX,
  META_BYTES_MAX,
  OWNER_BYTES_MAX,
  TTL_MS_MAX,
  TTL_MS_MIN,
  TYPE_CHARS_MAX,
  VALUE_BYTES_MAX,
  WAIT_MS_MAX,
} from '../../../engine/validation/limits.ts'
import { TYPES_PER_RESOURCE_MAX } from '../../../law/model/limits.ts'
import { asGranted, asQueued, asRefused, assertThrows } from '../answers.ts'
import { type EngineRig, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

const ACQUIRE = { kind: 'acquire', key: 'k', owner: 'new', requestId: 'new' }
const RELEASE = { kind: 'release', key: 'k', owner: 'a' }
const RENEW = { kind: 'renew', key: 'k', owner: 'a', ttlMs: 60_000 }
const CANCEL = { kind: 'cancel', key: 'k', owner: 'a' }
const BEGIN = { kind: 'begin', type: 'pull', resource: 'r', node: 'n' }
const FINISH = { kind: 'finish', type: 'pull', resource: 'busy', node: 'n', success: true }
const OPEN = { kind: 'open-session', session: 'new', graceMs: 5_000 }

/** Empty, with a control character of each kind, not well-formed, or no text at all. */
const BAD_NAMES: readonly unknown[] = [
  '',
  'a\u0000b',
  'a\nb',
  '\t',
  '\u001f',
  'a\u007f',
  'a\u0080',
  'a\u009f',
  'a\ud83d',
  '\udd12a',
  '\udd12\ud83d',
  7,
  null,
  true,
  {},
  ['a'],
]

const BAD_DURATIONS: readonly unknown[] = [NaN, -1, 1000.5, '1000', null, -Infinity, 2 ** 53]

/** Everything that callers may send and must be told is wrong, by the field that is wrong with it. */
function listBadCommands(): [label: string, command: unknown][] {
  const commands: [string, unknown][] = []
  const add = (base: object, field: string, values: readonly unknown[]): void => {
    for (const value of values) {
      const label = `${(base as { kind: string }).kind} with ${field} ${describeValue(value)}`
      commands.push([label, { ...base, [field]: value }])
    }
  }
  const names = (bytesMax: number): unknown[] => [
    ...BAD_NAMES,
    'x'.repeat(bytesMax + 1),
    '\u{1f512}'.repeat(bytesMax / 4 + 1),
    '\u20ac'.repeat(Math.floor(bytesMax / 3) + 1),
  ]
  for (const base of [ACQUIRE, RELEASE, RENEW, CANCEL]) {
    add(base, 'key', [...names(KEY_BYTES_MAX), undefined])
    add(base, 'owner', [...names(OWNER_BYTES_MAX), undefined])
  }
  for (const base of [BEGIN, FINISH]) {
    add(base, 'resource', [...names(KEY_BYTES_MAX), undefined])
    add(base, 'node', [...names(OWNER_BYTES_MAX), undefined])
    add(base, 'type', [...BAD_NAMES, 'a:b', 'a b', 'x'.repeat(TYPE_CHARS_MAX + 1), undefined])
    add(base, 'coordination', ['', 'nobody', 1])
  }
  add(ACQUIRE, 'requestId', [...names(ID_BYTES_MAX), undefined])
  for (const field of ['party', 'lane', 'session']) add(ACQUIRE, field, names(ID_BYTES_MAX))
  for (const base of [ACQUIRE, RELEASE]) add(base, 'mode', ['', 'exclusive', 'READ', 1, null])
  for (const base of [ACQUIRE, RENEW, BEGIN]) {
    const outOfRange = [0, TTL_MS_MIN - 1, TTL_MS_MAX + 1, Infinity]
    add(base, 'ttlMs', [...BAD_DURATIONS, ...outOfRange])
  }
  add(RENEW, 'ttlMs', [undefined])
  for (const base of [ACQUIRE, BEGIN]) {
    add(base, 'waitMs', [...BAD_DURATIONS, WAIT_MS_MAX + 1])
    add(base, 'meta', ['x'.repeat(META_BYTES_MAX + 1), {}, 1])
  }
  add({ ...ACQUIRE, waitMs: 1_000 }, 'detach', ['yes', 1])
  add(ACQUIRE, 'detach', [true])
  for (const base of [RELEASE, RENEW, FINISH]) add(base, 'token', [NaN, -1, 1.5, '1', Infinity])
  add(BEGIN, 'version', names(ID_BYTES_MAX))
  add(FINISH, 'success', [undefined, 'yes', 1])
  add(FINISH, 'value', ['x'.repeat(VALUE_BYTES_MAX + 1), '\u20ac'.repeat(VALUE_BYTES_MAX / 2), {}])
  add(FINISH, 'error', ['x'.repeat(ERROR_BYTES_MAX + 1), 1])
  add(OPEN, 'session', [...names(ID_BYTES_MAX), undefined])
  add(OPEN, 'graceMs', [...BAD_DURATIONS, GRACE_MS_MIN - 1, GRACE_MS_MAX + 1, Infinity, undefined])
  add(CANCEL, 'reason', ['', 'timeout', 1])
  for (const base of [CANCEL, { kind: 'force', key: 'k' }]) add(base, 'namespace', ['locks', 1])
  for (const field of ['key', 'owner']) {
    add({ ...CANCEL, namespace: 'operation' }, field, [...names(KEY_BYTES_MAX), undefined])
  }
  add({ kind: 'unref', resource: 'busy' }, 'node', ['', undefined])
  add({ key: 'k', owner: 'a' }, 'kind', ['', 'steal', 'ACQUIRE', undefined, 1, '__proto__'])
  // What an engine decides for itself is not a caller's to ask for.
  add({ owner: 'b', requestId: 'request-2', session: 's' }, 'kind', ['hang-up', 'leave', 'expire'])
  return commands
}

function describeValue(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > 40 ? `${text.slice(0, 40)}… (${text.length})` : text
}

/** Everything that can be seen of an engine, to show that nothing of it changed. */
async function dump(rig: EngineRig): Promise<unknown> {
  const { locks } = await rig.read({ kind: 'list', limit: 1_000 })
  const shown = locks.map((lock) => ({
    ...lock,
    holders: lock.holders.map(({ heldMs, leaseMs, ...holder }) => ({
      ...holder,
      leaseMs: rig.isVirtual ? leaseMs : heldMs >= 0,
    })),
    queue: lock.queue.map(({ waitedMs, ...waiter }) => ({ ...waiter, waited: waitedMs >= 0 })),
  }))
  return { stats: await rig.stats(), shown, references: await rig.references('busy') }
}

/** A small object with one text in it, as long as may be. */
function jsonOf(bytes: number): string {
  const empty = JSON.stringify({ note: '' })
  return JSON.stringify({ note: 'x'.repeat(bytes - empty.length) })
}

/** Every bound is kept: what is over it is refused, clearly, and changes nothing. */
export const limitsSuite: EngineSuite = {
  name: 'limits and bad input',
  tests: [
    engineTest('a malformed command is an error that changes nothing', async (rig) => {
      await rig.grant('a')
      await rig.queue('b')
      asGranted(await rig.begin('pull', 'n', { resource: 'busy' }))
      const before = await dump(rig)
      for (const [label, command] of listBadCommands()) {
        try {
          const answer = rig.patience.answer(rig.apply(command as Command), 'an answer')
          await assertThrows(() => answer, 'LOCK_INVALID_ARGUMENT')
        } catch (cause) {
          assert.fail(`${label} is not told to be wrong: ${String(cause)}`)
        }
      }
      assert.deepEqual(await dump(rig), before)
    }),

    engineTest('a malformed query is an error', async (rig) => {
      for (const query of [
        { kind: 'inspect' },
        { kind: 'inspect', key: '' },
        { kind: 'inspect', key: 'a\u0000' },
        { kind: 'inspect', key: 'k', namespace: 'locks' },
        { kind: 'inspect', key: 'k', queueLimit: -1 },
        { kind: 'list', limit: 0 },
        { kind: 'list', limit: 1_001 },
        { kind: 'list', limit: 1.5 },
        { kind: 'list', cursor: 'made up by the caller' },
        { kind: 'list', cursor: 'a\u0000b\u00001' },
        { kind: 'list', prefix: 'a\u0000' },
        { kind: 'list', prefix: 'x'.repeat(KEY_BYTES_MAX + 1) },
        { kind: 'list', owner: 'a\u0000' },
        { kind: 'standing', key: 'k' },
        { kind: 'references' },
        { kind: 'history', key: '' },
        { kind: 'history', namespace: 'locks' },
        { kind: 'history', limit: 0 },
        { kind: 'history', limit: 1_001 },
        { kind: 'everything' },
        {},
      ]) {
        await assertThrows(() => rig.read(query as unknown as Query), 'LOCK_INVALID_ARGUMENT')
      }
    }),

    engineTest('what is just within the bounds is accepted', async (rig) => {
      const long = 'x'.repeat(ID_BYTES_MAX)
      for (const ttlMs of [Math.max(TTL_MS_MIN, rig.capabilities.ttlMsMin), TTL_MS_MAX]) {
        const requestId = `ttl-${ttlMs}`
        const command = { ...ACQUIRE, kind: 'acquire', key: requestId, requestId, ttlMs } as const
        asGranted(await rig.apply(command))
      }
      await rig.grant('o'.repeat(OWNER_BYTES_MAX), { requestId: long, party: long, lane: long })
      await rig.grant('m', { key: 'meta', meta: jsonOf(META_BYTES_MAX) })
      await rig.apply({ kind: 'open-session', session: long, graceMs: GRACE_MS_MAX })
      await rig.grant('w', { key: 'session', session: long })
      const type = 't'.repeat(TYPE_CHARS_MAX)
      const value = jsonOf(VALUE_BYTES_MAX)
      asGranted(await rig.begin(type, 'n', { version: long }))
      await rig.succeed(type, 'n', { value, error: 'x'.repeat(ERROR_BYTES_MAX) })
      assert.deepEqual(await rig.begin(type, 'n', { version: long }), { kind: 'skip', value })
      const node = 'n'.repeat(OWNER_BYTES_MAX)
      const owner = `pull:${node}`
      asGranted(await rig.begin('pull', node, { resource: 'free', requestId: owner }))
      const cancel = { kind: 'cancel', namespace: 'operation', key: 'free', owner } as const
      // Sent again after a lost answer it has nothing left to cancel.
      await rig.apply({ ...cancel, requestId: owner })
      asGranted(await rig.begin('pull', 'next', { resource: 'free' }))
    }),

    engineTest('a wait may be as long as a day or have no end', async (rig) => {
      await rig.grant('a')
      for (const waitMs of [WAIT_MS_MAX, Infinity]) {
        const outcome = await rig.apply({
          kind: 'acquire',
          key: 'k',
          owner: 'b',
          requestId: `wait-${waitMs}`,
          waitMs,
          detach: true,
        })
        asQueued(outcome)
      }
    }),

    engineTest(
      'a key takes as many waiters as the settings say',
      { settings: { waitersPerKeyMax: 3 } },
      async (rig) => {
        await rig.grant('holder')
        for (const owner of ['a', 'b', 'c']) await rig.queue(owner)
        await rig.refuse('d', 'limit', { requestId: 'late', waitMs: TTL_MS })
        assert.deepEqual(await rig.waiters(), ['a', 'b', 'c'])
        await rig.cancel('b')
        assert.equal(await rig.queue('d', { requestId: 'late' }), 3)
      },
    ),

    engineTest(
      'a resource takes as many waiters as the settings say',
      { settings: { waitersPerKeyMax: 1 } },
      async (rig) => {
        asGranted(await rig.begin('pull', 'n1'))
        asQueued(await rig.begin('pull', 'n2'))
        asRefused(await rig.begin('pull', 'n3'), 'limit')
        asQueued(await rig.begin('pull', 'n2'))
        assert.equal((await rig.inspectResource()).queueLength, 1)
      },
    ),

    engineTest(
      'a key takes as many readers as the settings say',
      { settings: { holdersPerKeyMax: 2 } },
      async (rig) => {
        await rig.grant('a', { mode: 'read' })
        await rig.grant('b', { mode: 'read' })
        await rig.refuse('c', 'limit', { mode: 'read', requestId: 'late' })
        await rig.refuse('c', 'limit', { mode: 'read', requestId: 'late', waitMs: TTL_MS })
        await rig.grant('b', { mode: 'read' })
        assert.deepEqual(await rig.holders(), ['a', 'b'])
        await rig.release('a')
        await rig.grant('c', { mode: 'read', requestId: 'late' })
      },
    ),

    engineTest(
      'readers that are too many wait for room in their order',
      { settings: { holdersPerKeyMax: 2 } },
      async (rig) => {
        await rig.grant('writer')
        const first = await rig.wait('a', { mode: 'read' })
        const second = await rig.wait('b', { mode: 'read' })
        const third = await rig.wait('c', { mode: 'read' })
        await rig.queue('d', { mode: 'read' })
        await rig.release('writer')
        asGranted(await first.answer())
        asGranted(await second.answer())
        assert.deepEqual(await rig.holders(), ['a', 'b'])
        assert.deepEqual(await rig.waiters(), ['c', 'd'])
        await rig.release('b')
        asGranted(await third.answer())
        assert.deepEqual(await rig.waiters(), ['d'])
      },
    ),

    engineTest(
      'a resource is kept for as many nodes as the settings say',
      { settings: { referencesPerResourceMax: 2 } },
      async (rig) => {
        asGranted(await rig.begin('pull', 'n1'))
        const second = await rig.waitToBegin('pull', 'n2')
        const third = await rig.waitToBegin('pull', 'n3')
        await rig.succeed('pull', 'n1', { value: '1' })
        assert.equal((await second.answer()).kind, 'skip')
        asRefused(await third.answer(), 'limit')
        asRefused(await rig.begin('pull', 'n3', { requestId: 'late' }), 'limit')
        assert.equal((await rig.begin('pull', 'n2')).kind, 'skip')
        assert.deepEqual(await rig.references(), ['n1', 'n2'])
        await rig.unref('n1', 'layer')
        assert.equal((await rig.begin('pull', 'n3', { requestId: 'late' })).kind, 'skip')
      },
    ),

    engineTest('a resource remembers a bounded number of types', async (rig) => {
      for (let index = 0; index < TYPES_PER_RESOURCE_MAX; index += 1) {
        await rig.complete(`type-${index}`, 'n1')
      }
      asRefused(await rig.begin('another', 'n1'), 'limit')
      assert.equal((await rig.begin('type-0', 'n1')).kind, 'skip')
      await rig.complete('delete', 'n1')
      asGranted(await rig.begin('another', 'n1'))
    }),

    engineTest('the queue limit of the capabilities is kept', async (rig) => {
      assert.ok(rig.capabilities.waitersPerKeyMax >= 100, 'a queue is worth having')
      assert.ok(rig.capabilities.ttlMsMin <= rig.ms(TTL_MS / 2), 'the tests use shorter leases')
    }),
  ],
}

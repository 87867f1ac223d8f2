import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { WatchEvent } from '../../../src/engine/engine.ts'
import type { HolderReply, InspectReply, WaiterReply } from '../../../src/engine/queries.ts'
import { writeEvent } from '../../../src/wire/json/event-body.ts'
import { writeOutcome } from '../../../src/wire/json/outcome-body.ts'
import { writeOutcomeText } from '../../../src/wire/json/outcome-text.ts'
import { writeReply } from '../../../src/wire/json/reply-body.ts'
import type { Command } from '../../../src/law/model/commands.ts'
import type { Outcome } from '../../../src/law/model/outcomes.ts'
import { readFields } from '../../../src/server/http/fields.ts'
import { WORK_ROUTES } from '../../../src/server/routes/contract-routes.ts'
import { LOCK_ROUTES } from '../../../src/server/routes/lock-routes.ts'
import { readEvent, readOutcome, readReply, toBody } from './json-reader.ts'

/** As it arrives on the other side. */
const carry = (body: unknown): unknown => JSON.parse(JSON.stringify(body))

const name = fc.string({ minLength: 1, unit: 'grapheme' })
const count = fc.nat(1_000_000)
const mode = fc.constantFrom('read' as const, 'write' as const)
const namespace = fc.constantFrom('lock' as const, 'operation' as const)
const text = fc.jsonValue().map((value) => JSON.stringify(value))
const objectText = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value))

/** Fields that may be absent are left out, as over a wire they are. */
const optional = (
  model: Record<string, fc.Arbitrary<unknown>>,
  requiredKeys: string[],
): fc.Arbitrary<unknown> => fc.record(model, { requiredKeys, noNullPrototype: true })

const holder = optional(
  {
    owner: name,
    mode,
    reads: count,
    writes: count,
    token: count,
    heldMs: count,
    leaseMs: count,
    session: name,
    meta: objectText,
    type: name,
    node: name,
    version: name,
  },
  ['owner', 'mode', 'reads', 'writes', 'token', 'heldMs', 'leaseMs'],
) as fc.Arbitrary<HolderReply>

const waiter = optional(
  {
    owner: name,
    requestId: name,
    mode,
    position: count,
    waitedMs: count,
    upgrade: fc.boolean(),
    lane: name,
    session: name,
    type: name,
    node: name,
    version: name,
  },
  ['owner', 'requestId', 'mode', 'position', 'waitedMs', 'upgrade'],
) as fc.Arbitrary<WaiterReply>

const remembered = optional(
  { type: name, version: name, node: name, value: text, agoMs: count, skips: fc.boolean() },
  ['type', 'node', 'agoMs', 'skips'],
)

const inspected = fc
  .record({
    namespace,
    key: name,
    token: count,
    holders: fc.array(holder, { maxLength: 3 }),
    queue: fc.array(waiter, { maxLength: 3 }),
    queueLength: count,
    references: fc.array(name, { maxLength: 3 }),
    remembered: fc.array(remembered, { maxLength: 2 }),
  })
  // Only operations have these.
  .map((reply) =>
    reply.namespace === 'lock' ? { ...reply, references: [], remembered: [] } : { ...reply },
  ) as fc.Arbitrary<InspectReply>

const WALL_MS = 1_900_000_000_000

it('what was read of a key, and of many, arrives as it was', () => {
  fc.assert(
    fc.property(fc.array(inspected, { maxLength: 3 }), fc.option(name), (locks, cursor) => {
      const list = { kind: 'list' } as const
      const reply = { locks, cursor }
      expect(readReply(list, carry(writeReply(list, reply, WALL_MS)))).toEqual(reply)
      for (const lock of locks) {
        const inspect = { kind: 'inspect', key: lock.key } as const
        expect(readReply(inspect, carry(writeReply(inspect, lock, WALL_MS)))).toStrictEqual(lock)
      }
    }),
  )
})

it('where an owner stands arrives as it was', () => {
  const standing = { kind: 'standing', key: 'k', owner: 'o' } as const
  fc.assert(
    fc.property(fc.option(holder), fc.array(waiter, { maxLength: 3 }), (held, waiting) => {
      const reply = { holder: held, waiting }
      expect(readReply(standing, carry(writeReply(standing, reply, WALL_MS)))).toStrictEqual(reply)
    }),
  )
})

it('counts and histories arrive as they were', () => {
  const stats = { kind: 'stats' } as const
  const counted = { keys: 1, holds: 2, waiters: 3, sessions: 4, references: 5, ended: 6 }
  expect(readReply(stats, carry(writeReply(stats, counted, WALL_MS)))).toStrictEqual(counted)
  const history = { kind: 'history' } as const
  const end = { namespace: 'lock', key: 'k', owner: 'o', mode: 'write', token: 1 } as const
  const reply = { ends: [{ ...end, fromMs: 1, toMs: WALL_MS, end: 'failed' as const }] }
  expect(readReply(history, carry(writeReply(history, reply, WALL_MS)))).toStrictEqual(reply)
})

const event = optional(
  {
    kind: fc.constantFrom('granted', 'queued', 'released', 'completed', 'refused'),
    namespace,
    key: name,
    owner: name,
    requestId: name,
    mode,
    token: count,
    code: fc.constantFrom('held', 'timeout'),
    end: fc.constantFrom('expired', 'failed'),
    type: name,
    node: name,
    success: fc.boolean(),
    error: name,
    value: text,
    id: count,
    atMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  },
  ['kind', 'namespace', 'key', 'owner', 'id', 'atMs'],
) as fc.Arbitrary<WatchEvent>

it('an event arrives as it was, under the number of who reads it', () => {
  fc.assert(
    fc.property(event, (told) => {
      expect(readEvent(carry(writeEvent(told, 'life-7')), told.id)).toStrictEqual(told)
    }),
  )
  const reset = { kind: 'reset', id: 3, atMs: WALL_MS } as const
  expect(readEvent(carry(writeEvent(reset, 'life-7')), 3)).toStrictEqual(reset)
})

const wait = fc.oneof(count, fc.constant(Number.POSITIVE_INFINITY))
const command = fc.oneof(
  optional(
    {
      kind: fc.constant('acquire'),
      key: name,
      owner: name,
      requestId: name,
      mode,
      ttlMs: count,
      waitMs: wait,
      detach: fc.boolean(),
      party: name,
      lane: name,
      session: name,
      meta: objectText,
    },
    ['kind', 'key', 'owner', 'requestId'],
  ),
  optional(
    {
      kind: fc.constant('finish'),
      type: name,
      resource: name,
      node: name,
      success: fc.boolean(),
      error: name,
      value: text.filter((json) => json !== 'null'),
      token: count,
      requestId: name,
    },
    ['kind', 'type', 'resource', 'node', 'success'],
  ),
  optional({ kind: fc.constant('unref'), resource: name, node: name }, ['kind', 'node']),
) as fc.Arbitrary<Command>

function arrive(kind: string, body: unknown): Command | undefined {
  const route = [...LOCK_ROUTES, ...WORK_ROUTES].find(({ path }) => path === `/v1/${kind}`)
  const sources = { parameters: {}, query: new URLSearchParams(), body }
  return route?.toCommand(readFields(route.fields, sources))
}

it('a command arrives as it was', () => {
  fc.assert(
    fc.property(command, (sent) => {
      expect(arrive(sent.kind, carry(toBody(sent)))).toStrictEqual(sent)
    }),
  )
})

const ACQUIRE: Command = { kind: 'acquire', key: 'k', owner: 'o', requestId: '1' }
const BEGIN: Command = { kind: 'begin', type: 't', resource: 'r', node: 'n' }

const OUTCOMES: readonly (readonly [Command, Outcome])[] = [
  [ACQUIRE, { kind: 'granted', mode: 'read', token: 7, reads: 1, writes: 0, leaseMs: 9 }],
  [ACQUIRE, { kind: 'queued', position: 3 }],
  [ACQUIRE, { kind: 'refused', code: 'deadlock', cycle: ['o', 'p'] }],
  [
    ACQUIRE,
    {
      kind: 'refused',
      code: 'held',
      holders: [{ owner: 'p', mode: 'write', token: 1, heldMs: 2, leaseMs: 3 }],
    },
  ],
  [ACQUIRE, { kind: 'refused', code: 'ended', end: 'expired' }],
  [ACQUIRE, { kind: 'refused', code: 'bad_request', detail: 'why' }],
  [BEGIN, { kind: 'skip', value: undefined }],
  [BEGIN, { kind: 'skip', value: '{"snake_case":1,"camelCase":2}' }],
  [BEGIN, { kind: 'skip', value: 'null' }],
  [BEGIN, { kind: 'dissolved', node: 'm' }],
  [BEGIN, { kind: 'refused', code: 'in_use', nodes: ['m'] }],
  [
    { kind: 'release', key: 'k', owner: 'o' },
    { kind: 'released', reads: 1, writes: 0 },
  ],
  [
    { kind: 'release', key: 'k', owner: 'o' },
    { kind: 'refused', code: 'stale_token' },
  ],
  [
    { kind: 'renew', key: 'k', owner: 'o', ttlMs: 1 },
    { kind: 'renewed', token: 1, leaseMs: 2 },
  ],
  [
    { kind: 'cancel', key: 'k', owner: 'o' },
    { kind: 'cancelled', cancelled: false },
  ],
  [
    { kind: 'force', key: 'k' },
    { kind: 'forced', count: 2 },
  ],
  [
    { kind: 'unref', node: 'n' },
    { kind: 'unreferenced', removed: 1, count: 0 },
  ],
  [{ kind: 'sweep' }, { kind: 'swept', count: 4 }],
  [
    { kind: 'close-session', session: 's' },
    { kind: 'session-closed', ended: 1 },
  ],
]

it('an outcome arrives as it was', () => {
  for (const [asked, outcome] of OUTCOMES) {
    expect(readOutcome(carry(writeOutcome(asked, outcome).body))).toStrictEqual(outcome)
  }
})

it('an outcome is the same as text', () => {
  for (const [asked, outcome] of OUTCOMES) {
    const { status, body } = writeOutcome(asked, outcome)
    expect(writeOutcomeText(asked, outcome)).toEqual({ status, text: JSON.stringify(body) })
  }
})

it('a grant is the same as text whatever the names in it are', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (key, owner) => {
      const asked: Command = { kind: 'acquire', key, owner, requestId: '1' }
      const granted: Outcome = {
        kind: 'granted',
        mode: 'read',
        token: 9,
        reads: 2,
        writes: 0,
        leaseMs: 30_000,
      }
      const { status, body } = writeOutcome(asked, granted)
      expect(writeOutcomeText(asked, granted)).toEqual({ status, text: JSON.stringify(body) })
    }),
  )
})

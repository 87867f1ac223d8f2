import * as fc from 'fast-check'
import type { Command } from '../../../src/law/model/commands.ts'
import type { Outcome } from '../../../src/law/model/outcomes.ts'
import type { ClientMessage, ServerMessage } from '../../../src/wire/session/session-message.ts'

/** Every message of the protocol, with every field that it can have. */

export const OWN_SESSION = '0123456789abcdef0123456789abcdef'

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 400 }),
)
const name = fc.oneof(text, fc.constant('orders/42')).map((value) => value || 'x')
/** A zero has no sign on the wire. */
const double = fc.double({ noNaN: true }).map((value) => (value === 0 ? 0 : value))
/** JSON has no others. */
const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value || 0)
const count = fc.nat(200)
const ms = fc.maxSafeNat()
const flag = fc.boolean()
const mode = fc.constantFrom('read' as const, 'write' as const)
const namespace = fc.constantFrom('lock' as const, 'operation' as const)
const wait = fc.oneof(ms, fc.constant(Number.POSITIVE_INFINITY))
const session = fc.oneof(name, fc.constant(OWN_SESSION))
const coordination = fc.constantFrom('server' as const, 'client' as const, 'mutex' as const)
const reason = fc.constantFrom('cancelled' as const, 'abandoned' as const)
const record = <T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true }) as unknown as fc.Arbitrary<T>
const may = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined })

const plain = fc.object({
  key: fc.string({ maxLength: 10 }),
  maxDepth: 3,
  values: [text, ms, flag, fc.constant(null), finite],
}) as fc.Arbitrary<Record<string, unknown>>

const operation = { type: name, resource: name, node: name }

export const commands: fc.Arbitrary<Command> = fc.oneof(
  record({
    kind: fc.constant('acquire' as const),
    key: name,
    owner: name,
    requestId: name,
    mode: may(mode),
    ttlMs: may(ms),
    waitMs: may(wait),
    detach: may(flag),
    party: may(name),
    lane: may(name),
    session: may(session),
    meta: may(text),
  }),
  record({
    kind: fc.constant('release' as const),
    key: name,
    owner: name,
    mode: may(mode),
    token: may(ms),
    requestId: may(name),
  }),
  record({
    kind: fc.constant('renew' as const),
    key: name,
    owner: name,
    ttlMs: ms,
    token: may(ms),
  }),
  record({
    kind: fc.constant('cancel' as const),
    key: name,
    owner: name,
    requestId: may(name),
    reason: may(reason),
    namespace: may(namespace),
  }),
  record({
    kind: fc.constant('force' as const),
    key: name,
    owner: may(name),
    namespace: may(namespace),
  }),
  record({
    kind: fc.constant('begin' as const),
    ...operation,
    version: may(name),
    requestId: may(name),
    ttlMs: may(ms),
    waitMs: may(wait),
    lane: may(name),
    session: may(session),
    coordination: may(coordination),
    meta: may(text),
  }),
  record({
    kind: fc.constant('finish' as const),
    ...operation,
    success: flag,
    error: may(text),
    value: may(text),
    token: may(ms),
    requestId: may(name),
    coordination: may(coordination),
  }),
  record({ kind: fc.constant('unref' as const), resource: may(name), node: name }),
  record({
    kind: fc.constant('open-session' as const),
    session: name,
    graceMs: ms,
    keepsLeases: may(flag),
  }),
  record({ kind: fc.constant('touch-session' as const), session: name }),
  record({ kind: fc.constant('close-session' as const), session: name }),
  record({ kind: fc.constant('sweep' as const) }),
)

const holder = record({ owner: name, mode, token: ms, heldMs: ms, leaseMs: ms })
const end = fc.constantFrom(
  'released' as const,
  'expired' as const,
  'disconnected' as const,
  'forced' as const,
)

const refused = fc.record(
  {
    kind: fc.constant('refused' as const),
    code: fc.constantFrom('held' as const, 'timeout' as const, 'deadlock' as const),
    holders: fc.array(holder, { maxLength: 3 }),
    cycle: fc.array(name, { maxLength: 3 }),
    nodes: fc.array(name, { maxLength: 3 }),
    end,
    detail: text,
  },
  { requiredKeys: ['kind', 'code'], noNullPrototype: true },
)

const outcomes: fc.Arbitrary<Outcome> = fc.oneof(
  record({
    kind: fc.constant('granted' as const),
    mode,
    token: ms,
    reads: count,
    writes: count,
    leaseMs: ms,
  }),
  record({ kind: fc.constant('queued' as const), position: count }),
  record({ kind: fc.constant('skip' as const), value: may(text) }),
  record({ kind: fc.constant('dissolved' as const), node: name }),
  record({ kind: fc.constant('released' as const), reads: count, writes: count }),
  record({ kind: fc.constant('renewed' as const), token: ms, leaseMs: ms }),
  record({ kind: fc.constant('cancelled' as const), cancelled: flag }),
  record({ kind: fc.constant('finished' as const), success: flag }),
  record({ kind: fc.constant('forced' as const), count }),
  record({ kind: fc.constant('unreferenced' as const), removed: count, count }),
  record({ kind: fc.constant('session-opened' as const), resumed: flag }),
  record({ kind: fc.constant('session-touched' as const) }),
  record({ kind: fc.constant('session-closed' as const), ended: count }),
  record({ kind: fc.constant('swept' as const), count }),
  refused as fc.Arbitrary<Outcome>,
)

/** The number beside the fields: an id, a time, a version. */
export const numbers: fc.Arbitrary<number> = fc.oneof(fc.nat(65_535), ms, double)

const exactly = <K extends string>(kind: K): fc.Arbitrary<K> => fc.constant(kind)

export const clientMessages = fc.oneof(
  { weight: 3, arbitrary: commands },
  record({ kind: exactly('hello'), client: text, session: may(name), isHeartbeatOnly: may(flag) }),
  record({ kind: exactly('heartbeat') }),
  record({ kind: exactly('goodbye') }),
  record({ kind: exactly('read'), query: plain }),
  record({
    kind: exactly('watch'),
    watch: count,
    prefix: may(name),
    namespace: may(namespace),
  }),
  record({ kind: exactly('unwatch'), watch: count }),
) as fc.Arbitrary<ClientMessage>

const event = record({
  kind: fc.constantFrom('granted' as const, 'expired' as const),
  namespace,
  key: name,
  owner: name,
  token: ms,
  id: ms,
  atMs: ms,
})

export const serverMessages = fc.oneof(
  { weight: 3, arbitrary: outcomes },
  record({
    kind: exactly('welcome'),
    session: name,
    graceMs: ms,
    heartbeatMs: ms,
    losses: ms,
    capabilities: plain,
  }),
  record({ kind: exactly('heard'), losses: ms }),
  record({
    kind: exactly('failed'),
    code: name,
    message: text,
    applied: fc.constantFrom('no' as const, 'maybe' as const),
    details: may(plain),
  }),
  record({ kind: exactly('reply'), reply: plain }),
  record({ kind: exactly('done') }),
  record({ kind: exactly('event'), event }),
  record({
    kind: exactly('lost'),
    namespace: may(namespace),
    key: may(name),
    owner: may(name),
    token: may(ms),
    end: may(end),
  }),
) as fc.Arbitrary<ServerMessage>

import type { WatchEvent } from '../../../src/engine/engine.ts'
import type {
  HistoryEntry,
  HolderReply,
  InspectReply,
  Query,
  RememberedReply,
  ReplyOf,
  WaiterReply,
} from '../../../src/engine/queries.ts'
import type { Command } from '../../../src/law/model/commands.ts'
import type { Outcome } from '../../../src/law/model/outcomes.ts'
import { toCamel, toSnake } from '../../../src/wire/json/key-case.ts'

/**
 * What a client in another language does with the bodies of the HTTP API. Whatever a server writes can be
 * read back without loss.
 */
type Body = Record<string, unknown>

function camelKeys(value: unknown): Body {
  return renameKeys(value) as Body
}

function renameKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renameKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [toCamel(name), renameKeys(member)]),
  )
}

/** The body that asks for a command: JSON texts become JSON, a wait without an end becomes a word. */
export function toBody({ kind: _kind, ...fields }: Command): Body {
  const body: Body = {}
  for (const [name, value] of Object.entries(fields)) {
    const isJson = name === 'meta' || name === 'value'
    const sent = isJson ? JSON.parse(value as string) : value
    body[toSnake(name)] = sent === Number.POSITIVE_INFINITY ? 'forever' : sent
  }
  return body
}

/** The reply of a body, exactly as the engine gave it. */
export function readReply<Q extends Query>(query: Q, body: unknown): ReplyOf<Q>
export function readReply(query: Query, body: unknown): ReplyOf<Query> {
  const members = body as Body
  switch (query.kind) {
    case 'inspect':
      return readInspect(members)
    case 'list':
      return {
        locks: listOf(members['locks']).map(readInspect),
        cursor: (members['cursor'] as string | undefined) ?? null,
      }
    case 'standing': {
      const holder = members['holder'] as Body | null
      return {
        holder: holder === null ? null : readHolder(holder),
        waiting: listOf(members['waiting']).map(readWaiter),
      }
    }
    case 'references':
      return {
        resource: members['resource'] as string,
        nodes: members['nodes'] as string[],
        unclaimed: members['unclaimed'] as string[],
      }
    case 'stats':
      return camelKeys(members) as unknown as ReplyOf<typeof query>
    case 'history':
      return { ends: listOf(members['history']).map(readEnd) }
  }
}

function readInspect(body: Body): InspectReply {
  return {
    namespace: body['kind'] as InspectReply['namespace'],
    key: body['key'] as string,
    token: body['token'] as number | null,
    holders: listOf(body['holders']).map(readHolder),
    queue: listOf(body['queue']).map(readWaiter),
    queueLength: body['queue_length'] as number,
    references: (body['references'] as string[] | undefined) ?? [],
    remembered: listOf(body['remembered']).map(readRemembered),
  }
}

function readHolder({ since: _since, meta, ...facts }: Body): HolderReply {
  const reply = camelKeys(facts) as unknown as HolderReply
  return meta === undefined ? reply : { ...reply, meta: JSON.stringify(meta) }
}

function readWaiter({ since: _since, ...facts }: Body): WaiterReply {
  return camelKeys(facts) as unknown as WaiterReply
}

function readRemembered({ completed_at: _at, value, ...facts }: Body): RememberedReply {
  const reply = camelKeys(facts) as unknown as RememberedReply
  return value === undefined ? reply : { ...reply, value: JSON.stringify(value) }
}

function readEnd({ kind, from, to, ...facts }: Body): HistoryEntry {
  return {
    namespace: kind,
    ...camelKeys(facts),
    fromMs: Date.parse(from as string),
    toMs: Date.parse(to as string),
  } as unknown as HistoryEntry
}

function listOf(value: unknown): Body[] {
  return Array.isArray(value) ? (value as Body[]) : []
}

/** Members of an answer that say nothing which the outcome has not said, or that only repeat the question. */
const NO_FACTS: ReadonlySet<string> = new Set([
  'outcome',
  'error',
  'key',
  'owner',
  'type',
  'resource',
  'released',
  'renewed',
])

/** The outcome of an answer, as the other side meant it; `undefined` where it is none. */
export function readOutcome(body: unknown): Outcome | undefined {
  if (typeof body !== 'object' || body === null || !('outcome' in body)) return undefined
  const kind = body.outcome
  if (typeof kind !== 'string') return undefined
  const facts: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(body)) if (!NO_FACTS.has(name)) facts[name] = member
  if (kind !== 'cancelled') delete facts['cancelled']
  if (kind !== 'dissolved') delete facts['node']
  switch (kind) {
    case 'skip':
      return { kind, value: 'value' in facts ? JSON.stringify(facts['value']) : undefined }
    case 'forced':
      return { kind, count: facts['forced'] as number }
    default:
      return { kind, ...camelKeys(facts) } as unknown as Outcome
  }
}

/** The event of a body, with the number that the reader counts it by. */
export function readEvent(body: unknown, id: number): WatchEvent {
  const { event, id: _streamId, at, kind, value, ...facts } = body as Body
  const head = { kind: event, id, atMs: Date.parse(at as string) }
  if (event === 'reset') return head as WatchEvent
  const read = { ...head, namespace: kind, ...camelKeys(facts) }
  return (value === undefined
    ? read
    : { ...read, value: JSON.stringify(value) }) as unknown as WatchEvent
}

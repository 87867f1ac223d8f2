import type {
  HistoryEntry,
  HolderReply,
  InspectReply,
  Query,
  RememberedReply,
  ReplyOf,
  WaiterReply,
} from '../../engine/queries.ts'
import { parseJsonText } from './json-value.ts'
import { camelKeys, snakeKeys } from './key-case.ts'

type Body = Record<string, unknown>

/**
 * What was read from an engine, as JSON. Ages become instants as well (`since`), because people read
 * those; `wallMs` is the time of day at the moment of reading.
 */
export function writeReply<Q extends Query>(query: Q, reply: ReplyOf<Q>, wallMs: number): Body
export function writeReply(query: Query, reply: ReplyOf<Query>, wallMs: number): Body {
  switch (query.kind) {
    case 'inspect':
      return writeInspect(reply as ReplyOf<typeof query>, wallMs)
    case 'list': {
      const { locks, cursor } = reply as ReplyOf<typeof query>
      return { locks: locks.map((lock) => writeInspect(lock, wallMs)), cursor }
    }
    case 'standing': {
      const { holder, waiting } = reply as ReplyOf<typeof query>
      return {
        holder: holder === null ? null : writeHolder(holder, wallMs),
        waiting: waiting.map((waiter) => writeWaiter(waiter, wallMs)),
      }
    }
    case 'references': {
      const { resource, nodes } = reply as ReplyOf<typeof query>
      return { resource, count: nodes.length, nodes }
    }
    case 'stats':
      return snakeKeys(reply)
    case 'history':
      return { history: (reply as ReplyOf<typeof query>).ends.map(writeEnd) }
  }
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
      return { resource: members['resource'] as string, nodes: members['nodes'] as string[] }
    case 'stats':
      return camelKeys(members) as unknown as ReplyOf<typeof query>
    case 'history':
      return { ends: listOf(members['history']).map(readEnd) }
  }
}

/** Only an operation has references and a memory; a lock is shown without. */
function writeInspect(reply: InspectReply, wallMs: number): Body {
  const { namespace, key, token, holders, queue, queueLength, references, remembered } = reply
  const body = {
    kind: namespace,
    key,
    token,
    holders: holders.map((holder) => writeHolder(holder, wallMs)),
    queue: queue.map((waiter) => writeWaiter(waiter, wallMs)),
    queue_length: queueLength,
  }
  if (namespace === 'lock') return body
  return { ...body, references, remembered: remembered.map((one) => writeRemembered(one, wallMs)) }
}

function readInspect(body: Body): InspectReply {
  return {
    namespace: body['kind'] as InspectReply['namespace'],
    key: body['key'] as string,
    token: body['token'] as number,
    holders: listOf(body['holders']).map(readHolder),
    queue: listOf(body['queue']).map(readWaiter),
    queueLength: body['queue_length'] as number,
    references: (body['references'] as string[] | undefined) ?? [],
    remembered: listOf(body['remembered']).map(readRemembered),
  }
}

function writeHolder({ meta, ...facts }: HolderReply, wallMs: number): Body {
  const body = { ...snakeKeys(facts), since: toIso(wallMs - facts.heldMs) }
  return meta === undefined ? body : { ...body, meta: parseJsonText(meta) }
}

function readHolder({ since: _since, meta, ...facts }: Body): HolderReply {
  const reply = camelKeys(facts) as unknown as HolderReply
  return meta === undefined ? reply : { ...reply, meta: JSON.stringify(meta) }
}

function writeWaiter(waiter: WaiterReply, wallMs: number): Body {
  return { ...snakeKeys(waiter), since: toIso(wallMs - waiter.waitedMs) }
}

function readWaiter({ since: _since, ...facts }: Body): WaiterReply {
  return camelKeys(facts) as unknown as WaiterReply
}

function writeRemembered({ value, ...facts }: RememberedReply, wallMs: number): Body {
  const body = { ...snakeKeys(facts), completed_at: toIso(wallMs - facts.agoMs) }
  return value === undefined ? body : { ...body, value: parseJsonText(value) }
}

function readRemembered({ completed_at: _at, value, ...facts }: Body): RememberedReply {
  const reply = camelKeys(facts) as unknown as RememberedReply
  return value === undefined ? reply : { ...reply, value: JSON.stringify(value) }
}

function writeEnd({ namespace, fromMs, toMs, ...facts }: HistoryEntry): Body {
  return { kind: namespace, ...snakeKeys(facts), from: toIso(fromMs), to: toIso(toMs) }
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

function toIso(wallMs: number): string {
  return new Date(wallMs).toISOString()
}

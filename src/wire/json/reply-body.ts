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
import { snakeKeys } from './key-case.ts'

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
      const { resource, nodes, unclaimed } = reply as ReplyOf<typeof query>
      return { resource, count: nodes.length, nodes, unclaimed }
    }
    case 'stats':
      return snakeKeys(reply)
    case 'history':
      return { history: (reply as ReplyOf<typeof query>).ends.map(writeEnd) }
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

function writeHolder({ meta, ...facts }: HolderReply, wallMs: number): Body {
  const body = { ...snakeKeys(facts), since: toIso(wallMs - facts.heldMs) }
  return meta === undefined ? body : { ...body, meta: parseJsonText(meta) }
}

function writeWaiter(waiter: WaiterReply, wallMs: number): Body {
  return { ...snakeKeys(waiter), since: toIso(wallMs - waiter.waitedMs) }
}

function writeRemembered({ value, ...facts }: RememberedReply, wallMs: number): Body {
  const body = { ...snakeKeys(facts), completed_at: toIso(wallMs - facts.agoMs) }
  return value === undefined ? body : { ...body, value: parseJsonText(value) }
}

function writeEnd({ namespace, fromMs, toMs, ...facts }: HistoryEntry): Body {
  return { kind: namespace, ...snakeKeys(facts), from: toIso(fromMs), to: toIso(toMs) }
}

function toIso(wallMs: number): string {
  return new Date(wallMs).toISOString()
}

import { unreachable } from '../../../law/assert.ts'
import { compareNames } from '../../../engine/validation/names.ts'
import type {
  HistoryQuery,
  InspectReply,
  ListQuery,
  ListReply,
  Query,
  ReplyOf,
  StandingReply,
  StatsReply,
  WaiterReply,
} from '../../../engine/queries.ts'
import { LIST_SHOWN, QUEUE_SHOWN } from '../../../engine/validation/query-limits.ts'
import {
  showHolder,
  showReferences,
  showRemembered,
  showToken,
  showWaiter,
} from '../../../engine/show-key.ts'
import { copyTally } from './event-tally.ts'
import { KeyState } from './key-state.ts'
import type { LockTable } from './lock-table.ts'
import type { Namespace } from '../../../law/model/view.ts'
import { ResourceState } from './resource-state.ts'
import { SmallestNames } from './smallest-names.ts'

/** What can be read from the table alone. */
type TableQuery = Exclude<Query, HistoryQuery>

/** Answers a query from the table as it is at this moment. */
export function readTable<Q extends TableQuery>(
  table: LockTable,
  query: Q,
  nowMs: number,
): ReplyOf<Q>
export function readTable(table: LockTable, query: TableQuery, nowMs: number): ReplyOf<Query> {
  switch (query.kind) {
    case 'inspect': {
      const state = stateOf(table, query.key, query.namespace)
      return inspect(state, nowMs, query.queueLimit ?? QUEUE_SHOWN)
    }
    case 'list':
      return list(table, query, nowMs)
    case 'standing':
      return standing(stateOf(table, query.key, query.namespace), query.owner, nowMs)
    case 'references': {
      const state = stateOf(table, query.resource, 'operation')
      return showReferences(query.resource, state.references())
    }
    case 'stats':
      return stats(table)
    default:
      return unreachable(query)
  }
}

/** The key's state, or that of a free key, which is not kept. */
function stateOf(
  table: LockTable,
  key: string,
  namespace: 'lock' | 'operation' = 'lock',
): KeyState {
  return namespace === 'lock'
    ? (table.locks.get(key) ?? new KeyState(table.shardOf(key), key))
    : (table.resources.get(key) ?? new ResourceState(table.shardOf(key), key))
}

function inspect(state: KeyState, nowMs: number, queueLimit: number): InspectReply {
  const queue: WaiterReply[] = []
  for (const waiter of state.queue ?? []) {
    if (queue.length >= queueLimit) break
    queue.push(showWaiter(state, waiter, { position: queue.length + 1, nowMs }))
  }
  return {
    namespace: state.namespace,
    key: state.key,
    token: showToken(state.holds()),
    holders: Array.from(state.holds(), (hold) => showHolder(state, hold, nowMs)),
    queue,
    queueLength: state.queueLength,
    references: Array.from(state.references(), ({ node }) => node),
    remembered: Array.from(state.everyRemembered(), (one) => showRemembered(one, nowMs)),
  }
}

/** What a command or a query may be about. */
interface AboutKey {
  readonly key?: string | undefined
  readonly resource?: string | undefined
  readonly namespace?: Namespace | undefined
}

/** The key that a command or a query is about, if there is one and anything is known of it. */
export function findState(table: LockTable, asked: object): KeyState | undefined {
  const { key, resource, namespace } = asked as AboutKey
  if (resource !== undefined) return table.resources.get(resource)
  if (key === undefined) return undefined
  return namespace === 'operation' ? table.resources.get(key) : table.locks.get(key)
}

function standing(state: KeyState, owner: string, nowMs: number): StandingReply {
  const hold = state.hold(owner)
  const waiting = state
    .waitersOf(owner)
    .map((waiter) => showWaiter(state, waiter, { position: state.position(waiter), nowMs }))
  return { holder: hold === undefined ? null : showHolder(state, hold, nowMs), waiting }
}

/** One pass over the table, keeping the first names only: a page costs no sorting of all keys. */
function list(table: LockTable, query: ListQuery, nowMs: number): ListReply {
  const limit = query.limit ?? LIST_SHOWN
  const after = query.cursor
  const page = new SmallestNames<KeyState>(limit + 1)
  for (const state of table.states(query.namespace)) {
    if (!isListed(state, query)) continue
    const place = placeOf(state)
    if (after === undefined || compareNames(place, after) > 0) page.add(place, state)
  }
  const found = page.sorted()
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  return {
    locks: shown.map((state) => inspect(state, nowMs, QUEUE_SHOWN)),
    cursor: found.length > limit && last !== undefined ? placeOf(last) : null,
  }
}

/** In key order; a lock before the operation of the same name. Keys have no control characters. */
function placeOf(state: KeyState): string {
  return `${state.key}\u0000${state.namespace === 'lock' ? 0 : 1}`
}

function isListed(state: KeyState, { prefix, owner }: ListQuery): boolean {
  if (prefix !== undefined && !state.key.startsWith(prefix)) return false
  if (owner !== undefined) {
    return state.hold(owner) !== undefined || state.waitersOf(owner).length > 0
  }
  return state.holdCount > 0 || state.queueLength > 0
}

/** From counters alone: with a million keys, going through them would take a tenth of a second. */
function stats(table: LockTable): StatsReply {
  return {
    keys: table.locks.size + table.resources.size,
    holds: table.holdCount,
    waiters: table.waiterCount,
    sessions: table.sessions.size,
    references: table.referenceCount,
    ended: table.endedCount,
    events: copyTally(table.events),
  }
}

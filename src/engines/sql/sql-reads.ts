import { type Selectable, sql } from 'kysely'
import { unreachable } from '../../law/assert.ts'
import { nameAfterPrefix } from '../../engine/validation/names.ts'
import type { Namespace, Reference, Waiter } from '../../law/model/view.ts'
import type {
  InspectReply,
  ListQuery,
  ListReply,
  Query,
  ReplyOf,
  StandingReply,
  StatsReply,
} from '../../engine/queries.ts'
import { LIST_SHOWN, QUEUE_SHOWN } from '../../engine/validation/query-limits.ts'
import {
  showHolder,
  showReferences,
  showRemembered,
  showToken,
  showWaiter,
} from '../../engine/show-key.ts'
import { ABSENT_KEY } from './snapshot/absent-key.ts'
import { readHistory } from './history.ts'
import { loadKeys } from './snapshot/key-loader.ts'
import { loadPart } from './snapshot/key-parts.ts'
import { KeySnapshot } from './snapshot/key-snapshot.ts'
import { toWaiter } from './snapshot/row-codec.ts'
import type { KeyTable } from './schema/schema.ts'
import type { KeyName } from './sql-dialect.ts'
import type { TransactionContext } from './commit/transaction-context.ts'

/** Answers a query from a transaction that reads a single moment. */
export async function readSql(context: TransactionContext, query: Query): Promise<ReplyOf<Query>> {
  switch (query.kind) {
    case 'inspect': {
      const snapshot = await find(context, query.key, query.namespace)
      return inspect(context, snapshot, query.queueLimit ?? QUEUE_SHOWN)
    }
    case 'list':
      return list(context, query)
    case 'standing': {
      const snapshot = await find(context, query.key, query.namespace)
      return standing(context, snapshot, query.owner)
    }
    case 'references': {
      const snapshot = await find(context, query.resource, 'operation')
      return showReferences(query.resource, await referencesOf(context, snapshot))
    }
    case 'stats':
      return stats(context)
    case 'history':
      return readHistory(context, query)
    default:
      return unreachable(query)
  }
}

async function find(
  context: TransactionContext,
  name: string,
  space: Namespace = 'lock',
): Promise<KeySnapshot> {
  const row = await context.db
    .selectFrom('holdfast_keys')
    .selectAll()
    .where('space', '=', space)
    .where('name', '=', name)
    .executeTakeFirst()
  if (row === undefined) return new KeySnapshot({ ...ABSENT_KEY, space, name }, context)
  const [snapshot] = await loadKeys(context, [row])
  return snapshot as KeySnapshot
}

async function inspect(
  context: TransactionContext,
  snapshot: KeySnapshot,
  queueLimit: number,
): Promise<InspectReply> {
  const { nowMs } = context
  if (!snapshot.held.isWhole) await loadPart(context, snapshot, { kind: 'holds' })
  const queue = await firstWaiters(context, snapshot, queueLimit)
  return {
    namespace: snapshot.namespace,
    key: snapshot.key,
    token: showToken(snapshot.held.all()),
    holders: snapshot.held.all().map((hold) => showHolder(snapshot, hold, nowMs)),
    queue: queue.map((waiter, index) =>
      showWaiter(snapshot, waiter, { position: index + 1, nowMs }),
    ),
    queueLength: snapshot.queueLength,
    references: (await referencesOf(context, snapshot)).map(({ node }) => node),
    remembered: snapshot.resource.everyRemembered().map((one) => showRemembered(one, nowMs)),
  }
}

/** In the order in which they are served. */
async function firstWaiters(
  { db, process }: TransactionContext,
  { id, queue }: KeySnapshot,
  limit: number,
): Promise<readonly Waiter[]> {
  if (queue.length === 0) return []
  const rows = await db
    .selectFrom('holdfast_waiters')
    .selectAll()
    .where('key_id', '=', id)
    .orderBy('upgrade', 'desc')
    .orderBy('lane')
    .orderBy('place')
    .limit(limit)
    .execute()
  return rows.map((row) => toWaiter(row, process))
}

async function referencesOf(
  context: TransactionContext,
  snapshot: KeySnapshot,
): Promise<readonly Reference[]> {
  if (!snapshot.resource.hasReferences) await loadPart(context, snapshot, { kind: 'references' })
  return snapshot.resource.references()
}

async function standing(
  context: TransactionContext,
  snapshot: KeySnapshot,
  owner: string,
): Promise<StandingReply> {
  const { nowMs } = context
  if (!snapshot.held.isWhole) await loadPart(context, snapshot, { kind: 'hold', owner })
  const hold = snapshot.hold(owner)
  if (!snapshot.queue.loaded.isWhole) {
    await loadPart(context, snapshot, { kind: 'waiters-of', owner })
    await loadPart(context, snapshot, { kind: 'heads' })
    await loadPart(context, snapshot, { kind: 'lane-lengths' })
    for (const { lane, place } of snapshot.queue.waitersOf(owner)) {
      await loadPart(context, snapshot, { kind: 'ahead', lane, place })
    }
  }
  return {
    holder: hold === undefined ? null : showHolder(snapshot, hold, nowMs),
    waiting: snapshot.queue
      .waitersOf(owner)
      .map((waiter) =>
        showWaiter(snapshot, waiter, { position: snapshot.position(waiter), nowMs }),
      ),
  }
}

async function list(context: TransactionContext, query: ListQuery): Promise<ListReply> {
  const limit = query.limit ?? LIST_SHOWN
  const conditions = [sql`(holds > 0 or waiters > 0)`]
  const { prefix, owner, namespace, cursor } = query
  if (prefix !== undefined && prefix !== '') {
    const after = nameAfterPrefix(prefix)
    conditions.push(sql`name >= ${prefix}`)
    if (after !== undefined) conditions.push(sql`name < ${after}`)
  }
  if (namespace !== undefined) conditions.push(sql`space = ${namespace}`)
  if (owner !== undefined) {
    conditions.push(sql`id in (
      select key_id from holdfast_holds where owner = ${owner}
      union select key_id from holdfast_waiters where owner = ${owner})`)
  }
  if (cursor !== undefined) {
    const { space, name } = fromCursor(cursor)
    conditions.push(sql`(name > ${name} or (name = ${name} and space > ${space}))`)
  }
  const { rows } = await sql<Selectable<KeyTable>>`
    select * from holdfast_keys where ${sql.join(conditions, sql` and `)}
    order by name, space limit ${sql.lit(limit + 1)}`.execute(context.db)
  const snapshots = await loadKeys(context, rows.slice(0, limit))
  const locks: InspectReply[] = []
  for (const snapshot of snapshots) locks.push(await inspect(context, snapshot, QUEUE_SHOWN))
  const last = rows.length > limit ? snapshots.at(-1) : undefined
  return { locks, cursor: last === undefined ? null : toCursor(last) }
}

/** In key order; a lock before the operation of the same name. Keys have no control characters. */
function toCursor({ namespace, key }: KeySnapshot): string {
  return `${key}\u0000${namespace === 'lock' ? 0 : 1}`
}

function fromCursor(cursor: string): KeyName {
  return { space: cursor.endsWith('0') ? 'lock' : 'operation', name: cursor.slice(0, -2) }
}

async function stats({ db, nowMs }: TransactionContext): Promise<StatsReply> {
  const { rows } = await sql<Record<keyof StatsReply, number | string | null>>`
    select
      (select count(*) from holdfast_keys) as "keys",
      (select count(*) from holdfast_holds) as holds,
      (select count(*) from holdfast_waiters) as waiters,
      (select count(*) from holdfast_sessions where ended = 0) as sessions,
      (select count(*) from holdfast_refs) as "references",
      (select sum(ended_count) from holdfast_keys where ended_until_ms > ${nowMs}) as ended
  `.execute(db)
  const [counted] = rows
  const number = (name: keyof StatsReply): number => Number(counted?.[name] ?? 0)
  return {
    keys: number('keys'),
    holds: number('holds'),
    waiters: number('waiters'),
    sessions: number('sessions'),
    references: number('references'),
    ended: number('ended'),
  }
}

import type { HistoryEnd } from '../../engine/queries.ts'
import { ENDED_REMEMBERED_MS } from '../../law/limits.ts'
import type { EndedHold } from './holds-snapshot.ts'
import type { KeySnapshot } from './key-snapshot.ts'
import {
  dueAtMsOfHold,
  dueAtMsOfWaiter,
  orNever,
  type PlacedWaiter,
  toHoldRow,
  toSuccessRow,
  toWaiterRow,
} from './row-codec.ts'
import type { Row, TableName } from './sql-dialect.ts'
import type { TransactionContext } from './transaction-context.ts'

/**
 * Write what the decisions of a transaction changed, for all keys together: one statement for each table
 * that is touched. Returns, by key, when it is due next.
 */
export async function writeKeys(
  context: TransactionContext,
  snapshots: readonly KeySnapshot[],
): Promise<Map<KeySnapshot, number>> {
  const changed = snapshots.filter(({ isChanged }) => isChanged)
  await writeHolds(context, changed)
  await writeWaiters(context, changed)
  await writeResources(context, changed)
  await writeHistory(context, changed)
  const due = new Map<KeySnapshot, number>()
  for (const snapshot of changed) due.set(snapshot, await dueAtMsOf(context, snapshot))
  await writeRows(context, due)
  return due
}

async function writeHolds(
  context: TransactionContext,
  snapshots: readonly KeySnapshot[],
): Promise<void> {
  const rows = snapshots.flatMap(({ id, held }) =>
    [...held.changed].flatMap((owner) => {
      const hold = held.find(owner)
      return hold === undefined ? [] : [toHoldRow(id, hold)]
    }),
  )
  await put(context, 'holdfast_holds', { by: ['key_id', 'owner'], rows })
  for (const { id, held } of snapshots) {
    if (held.gone.size === 0) continue
    await context.db
      .deleteFrom('holdfast_holds')
      .where('key_id', '=', id)
      .where('owner', 'in', [...held.gone])
      .execute()
  }
}

async function writeWaiters(
  context: TransactionContext,
  snapshots: readonly KeySnapshot[],
): Promise<void> {
  for (const { id, queue } of snapshots) {
    if (queue.gone.size === 0) continue
    await context.db
      .deleteFrom('holdfast_waiters')
      .where('key_id', '=', id)
      .where('place', 'in', [...queue.gone])
      .execute()
  }
  const rows = snapshots.flatMap(({ id, queue }) =>
    [...queue.changed].map((place) => toWaiterRow(id, queue.at(place) as PlacedWaiter)),
  )
  await put(context, 'holdfast_waiters', { by: ['key_id', 'place'], rows })
}

async function writeResources(
  context: TransactionContext,
  snapshots: readonly KeySnapshot[],
): Promise<void> {
  const { db, nowMs } = context
  for (const { id, resource } of snapshots) {
    const ofKey = db.deleteFrom('holdfast_refs').where('key_id', '=', id)
    if (resource.isCleared) await ofKey.execute()
    else if (resource.droppedNodes.size > 0) {
      await ofKey.where('node', 'in', [...resource.droppedNodes]).execute()
    }
    const forgotten = [...resource.changedTypes].filter((type) => !resource.remembered(type))
    if (forgotten.length === 0) continue
    await db
      .deleteFrom('holdfast_successes')
      .where('key_id', '=', id)
      .where('type', 'in', forgotten)
      .execute()
  }
  const references = snapshots.flatMap(({ id, resource }) =>
    [...resource.addedNodes].map((node) => ({ key_id: id, node, since_ms: nowMs })),
  )
  await put(context, 'holdfast_refs', { by: ['key_id', 'node'], rows: references })
  const successes = snapshots.flatMap(({ id, resource }) =>
    [...resource.changedTypes].flatMap((type) => {
      const remembered = resource.remembered(type)
      return remembered === undefined ? [] : [toSuccessRow(id, remembered)]
    }),
  )
  await put(context, 'holdfast_successes', { by: ['key_id', 'type'], rows: successes })
}

/** Grants that were undone before anyone took them are nobody's history. */
const KEPT_ENDS: ReadonlySet<string> = new Set<HistoryEnd>([
  'released',
  'expired',
  'disconnected',
  'forced',
  'failed',
])

async function writeHistory(
  { db, nowMs }: TransactionContext,
  snapshots: readonly KeySnapshot[],
): Promise<void> {
  const toRow = ({ namespace, key }: KeySnapshot, { hold, end }: EndedHold) => ({
    space: namespace,
    name: key,
    owner: hold.owner,
    mode: hold.writes > 0 ? ('write' as const) : ('read' as const),
    token: hold.token,
    from_ms: hold.sinceMs,
    to_ms: nowMs,
    end_kind: end,
  })
  const rows = snapshots.flatMap((snapshot) =>
    snapshot.held.ends
      .filter(({ end }) => KEPT_ENDS.has(end))
      .map((ended) => toRow(snapshot, ended)),
  )
  if (rows.length > 0) await db.insertInto('holdfast_history').values(rows).execute()
}

/** The soonest moment of the key: its holds, its waiters, its successes, or its last end if it is idle. */
async function dueAtMsOf(context: TransactionContext, snapshot: KeySnapshot): Promise<number> {
  const { held, queue, resource } = snapshot
  const holds = held.isWhole
    ? Math.min(Infinity, ...held.all().map(dueAtMsOfHold))
    : await soonest(context, 'holdfast_holds', snapshot.id)
  const waiters = queue.loaded.isWhole
    ? Math.min(Infinity, ...queue.known.map(dueAtMsOfWaiter))
    : await soonest(context, 'holdfast_waiters', snapshot.id)
  const isIdle = held.count === 0 && queue.length === 0
  const lastEnd = isIdle ? endedUntilMs(context, snapshot) : Infinity
  return Math.min(holds, waiters, resource.dueAtMs, lastEnd ?? Infinity)
}

async function soonest(
  { db }: TransactionContext,
  table: 'holdfast_holds' | 'holdfast_waiters',
  keyId: number,
): Promise<number> {
  const row = await db
    .selectFrom(table)
    .select((eb) => eb.fn.min<number | null>('due_at_ms').as('due'))
    .where('key_id', '=', keyId)
    .executeTakeFirstOrThrow()
  return row.due === null ? Infinity : Number(row.due)
}

function endedUntilMs({ nowMs }: TransactionContext, snapshot: KeySnapshot): number | null {
  const last = snapshot.endsAt(nowMs).at(-1)
  return last === undefined ? null : last.atMs + ENDED_REMEMBERED_MS
}

async function writeRows(
  context: TransactionContext,
  due: ReadonlyMap<KeySnapshot, number>,
): Promise<void> {
  const rows: Row[] = []
  for (const [snapshot, dueAtMs] of due) rows.push(toKeyRow(context, snapshot, dueAtMs))
  await put(context, 'holdfast_keys', { by: ['id'], rows })
}

function toKeyRow(context: TransactionContext, snapshot: KeySnapshot, dueAtMs: number): Row {
  const ends = snapshot.endsAt(context.nowMs)
  const passes = snapshot.everyPass
  return {
    id: snapshot.id,
    space: snapshot.namespace,
    name: snapshot.key,
    token: snapshot.token,
    holds: snapshot.held.count,
    waiters: snapshot.queue.length,
    refs: snapshot.resource.referenceCount,
    successes: snapshot.resource.successCount,
    writer: snapshot.held.writerOwner,
    next_place: snapshot.queue.nextPlace,
    passes: passes.some((count) => count > 0)
      ? JSON.stringify(Array.from(passes, (n) => n ?? 0))
      : null,
    ended: ends.length === 0 ? null : JSON.stringify(ends),
    ended_count: ends.length,
    ended_until_ms: endedUntilMs(context, snapshot),
    due_at_ms: orNever(dueAtMs),
  }
}

async function put(
  { db, dialect }: TransactionContext,
  table: TableName,
  upsert: { readonly by: readonly string[]; readonly rows: readonly Row[] },
): Promise<void> {
  if (upsert.rows.length > 0) await dialect.upsert(db, table, upsert)
}

import { type RawBuilder, sql } from 'kysely'
import type { HistoryEnd } from '../../engine/queries.ts'
import { ENDED_REMEMBERED_MS } from '../../law/limits.ts'
import type { KeySnapshot } from './key-snapshot.ts'
import {
  dueAtMsOfHold,
  dueAtMsOfWaiter,
  orNever,
  toHoldRow,
  toSuccessRow,
  toWaiterRow,
} from './row-codec.ts'
import type { Row, TableName, Upsert } from './sql-dialect.ts'
import type { TransactionContext } from './transaction-context.ts'
import { insertInto } from './upsert.ts'

type Statement = RawBuilder<unknown>

/**
 * Write what the decisions of a transaction changed, for all keys together. Returns, by key, when it is
 * due next.
 */
export async function writeKeys(
  context: TransactionContext,
  snapshots: readonly KeySnapshot[],
): Promise<Map<KeySnapshot, number>> {
  const changed = snapshots.filter(({ isChanged }) => isChanged)
  const statements = [
    ...changed.flatMap((one) => removalsOf(one)),
    ...additionsTo(context, changed),
  ]
  const isKnown = changed.every(({ held, queue }) => held.isWhole && queue.loaded.isWhole)
  // Of what was not loaded the tables know when it is due, once all this is written.
  if (!isKnown) await context.dialect.executeAll(context.db, statements.splice(0))
  const due = new Map<KeySnapshot, number>()
  for (const snapshot of changed) due.set(snapshot, await dueAtMsOf(context, snapshot))
  const rows = [...due].map(([snapshot, dueAtMs]) => toKeyRow(context, snapshot, dueAtMs))
  statements.push(...put(context, 'holdfast_keys', { by: ['id'], rows }))
  await context.dialect.executeAll(context.db, statements)
  return due
}

function removalsOf({ id, held, queue, resource }: KeySnapshot): Statement[] {
  const owners = [...held.gone]
  const places = [...queue.gone]
  const nodes = [...resource.droppedNodes]
  const types = [...resource.changedTypes].filter((type) => !resource.remembered(type))
  const statements: Statement[] = []
  if (owners.length > 0) {
    statements.push(
      sql`delete from holdfast_holds where key_id = ${id} and owner in (${sql.join(owners)})`,
    )
  }
  if (places.length > 0) {
    statements.push(
      sql`delete from holdfast_waiters where key_id = ${id} and place in (${sql.join(places)})`,
    )
  }
  if (resource.isCleared) statements.push(sql`delete from holdfast_refs where key_id = ${id}`)
  else if (nodes.length > 0) {
    statements.push(
      sql`delete from holdfast_refs where key_id = ${id} and node in (${sql.join(nodes)})`,
    )
  }
  if (types.length > 0) {
    statements.push(
      sql`delete from holdfast_successes where key_id = ${id} and type in (${sql.join(types)})`,
    )
  }
  return statements
}

function additionsTo(context: TransactionContext, snapshots: readonly KeySnapshot[]): Statement[] {
  const { nowMs } = context
  const holds = snapshots.flatMap(({ id, held }) =>
    [...held.changed].flatMap((owner) => held.find(owner) ?? []).map((hold) => toHoldRow(id, hold)),
  )
  const waiters = snapshots.flatMap(({ id, queue }) =>
    [...queue.changed].flatMap((place) => queue.at(place) ?? []).map((one) => toWaiterRow(id, one)),
  )
  const references = snapshots.flatMap(({ id, resource }) =>
    [...resource.addedNodes].map((node) => ({ key_id: id, node, since_ms: nowMs })),
  )
  const successes = snapshots.flatMap(({ id, resource }) =>
    [...resource.changedTypes]
      .flatMap((type) => resource.remembered(type) ?? [])
      .map((remembered) => toSuccessRow(id, remembered)),
  )
  const history = snapshots.flatMap((snapshot) => historyOf(context, snapshot))
  return [
    ...put(context, 'holdfast_holds', { by: ['key_id', 'owner'], rows: holds }),
    ...put(context, 'holdfast_waiters', { by: ['key_id', 'place'], rows: waiters }),
    ...put(context, 'holdfast_refs', { by: ['key_id', 'node'], rows: references }),
    ...put(context, 'holdfast_successes', { by: ['key_id', 'type'], rows: successes }),
    ...(history.length === 0 ? [] : [insertInto('holdfast_history', history)]),
  ]
}

/** Grants that were undone before anyone took them are nobody's history. */
const KEPT_ENDS: ReadonlySet<string> = new Set<HistoryEnd>([
  'released',
  'expired',
  'disconnected',
  'forced',
  'failed',
])

function historyOf({ nowMs }: TransactionContext, { namespace, key, held }: KeySnapshot): Row[] {
  return held.ends
    .filter(({ end }) => KEPT_ENDS.has(end))
    .map(({ hold, end }) => ({
      space: namespace,
      name: key,
      owner: hold.owner,
      mode: hold.writes > 0 ? 'write' : 'read',
      token: hold.token,
      from_ms: hold.sinceMs,
      to_ms: nowMs,
      end_kind: end,
    }))
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

function toKeyRow(context: TransactionContext, snapshot: KeySnapshot, dueAtMs: number): Row {
  const ends = snapshot.endsAt(context.nowMs)
  const passes = snapshot.everyPass
  return {
    id: snapshot.id,
    version: snapshot.version + 1,
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

function put({ dialect }: TransactionContext, table: TableName, upsert: Upsert): Statement[] {
  return upsert.rows.length === 0 ? [] : [dialect.upsert(table, upsert)]
}

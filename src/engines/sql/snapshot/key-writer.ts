import { toHistoryEnd } from '../../../engine/history-rules.ts'
import type { EndsWritten } from './ends-snapshot.ts'
import type { KeySnapshot } from './key-snapshot.ts'
import {
  dueAtMsOfHold,
  dueAtMsOfWaiter,
  orNever,
  toEndRow,
  toHoldRow,
  toSuccessRow,
  toWaiterRow,
} from './row-codec.ts'
import type { Row, TableName, Upsert } from '../sql-dialect.ts'
import { joined, type Rows, type Statement, statement, type Value, words } from '../statement.ts'
import type { TransactionContext } from '../commit/transaction-context.ts'
import { inParts, insertAll } from '../upsert.ts'

/** What has to be written of keys, and what will be known when it is. */
export interface KeysWritten {
  readonly statements: readonly Statement[]
  /** By key, when it is due next; from what the last of the statements found. */
  dueOf(found: Rows): Map<KeySnapshot, number>
}

/** Write what the decisions of a transaction changed, for all keys together. */
export function writeKeys(
  context: TransactionContext,
  snapshots: readonly KeySnapshot[],
): KeysWritten {
  const changed = snapshots.filter(({ isChanged }) => isChanged)
  const due = new Map(changed.map((one) => [one, nextLookAtMs(context, one)]))
  const ends = new Map(changed.map((one) => [one, one.ends.write(context.nowMs, one.version + 1)]))
  const rows = changed.map((one) => {
    const endedCount = ends.get(one)?.count ?? 0
    return toKeyRow(context, one, { endedCount, dueAtMs: due.get(one) ?? Infinity })
  })
  const partial = changed.filter(({ isWhole }) => !isWhole)
  const statements = [
    ...removalsOf(context, changed),
    ...additionsTo(context, changed),
    ...writeEnds(ends),
    ...changeKeys(context, rows),
    ...dueStatements(partial, due),
  ]
  return {
    statements,
    dueOf: (found) => {
      const byId = new Map(found.map(({ id, due: atMs }) => [id, atMs]))
      for (const one of partial) due.set(one, Number(byId.get(one.id) ?? Infinity))
      return due
    },
  }
}

/** A key that has nothing any more costs nothing. Its tokens are not used again: the floor rises. */
export function removeEmpty(
  context: TransactionContext,
  snapshots: readonly KeySnapshot[],
): Statement[] {
  const empty = snapshots.filter((one) => one.isEmpty(context.nowMs))
  const ids = empty.map(({ id }) => id)
  if (ids.length === 0) return []
  const removals = [
    context.dialect.removeAll('holdfast_ends', 'key_id', ids),
    context.dialect.removeAll('holdfast_keys', 'id', ids),
  ]
  const highest = Math.max(...empty.map(({ token }) => token))
  if (highest <= context.floor) return removals
  return [
    ...removals,
    statement`
      update holdfast_state set floor = ${highest} where id = 1 and floor < ${highest}`,
  ]
}

/** What leaves its table. All of a key at once where nothing of it stays. */
function removalsOf(context: TransactionContext, snapshots: readonly KeySnapshot[]): Statement[] {
  const emptied = { holds: [] as number[], waiters: [] as number[] }
  const statements: Statement[] = []
  const removeOf = (table: TableName, ids: readonly number[]): Statement[] =>
    ids.length === 0 ? [] : [context.dialect.removeAll(table, 'key_id', ids)]
  for (const { id, held, queue, resource } of snapshots) {
    if (held.gone.size > 0) {
      if (held.count === 0) emptied.holds.push(id)
      else statements.push(removeFrom('holdfast_holds', { id, column: 'owner', gone: held.gone }))
    }
    if (queue.gone.size > 0) {
      if (queue.length === 0) emptied.waiters.push(id)
      else
        statements.push(removeFrom('holdfast_waiters', { id, column: 'place', gone: queue.gone }))
    }
    if (resource.droppedNodes.size > 0) {
      const gone = resource.droppedNodes
      statements.push(removeFrom('holdfast_refs', { id, column: 'node', gone }))
    }
    const types = [...resource.changedTypes].filter((type) => !resource.remembered(type))
    if (types.length > 0) {
      statements.push(removeFrom('holdfast_successes', { id, column: 'type', gone: types }))
    }
  }
  return [
    ...removeOf('holdfast_holds', emptied.holds),
    ...removeOf('holdfast_waiters', emptied.waiters),
    ...statements,
  ]
}

interface Removal {
  readonly id: number
  readonly column: string
  readonly gone: Iterable<Value>
}

function removeFrom(table: TableName, { id, column, gone }: Removal): Statement {
  const of = words(`delete from ${table} where key_id = `)
  return statement`${of}${id} and ${words(column)} in (${joined([...gone])})`
}

function additionsTo(context: TransactionContext, snapshots: readonly KeySnapshot[]): Statement[] {
  const { nowMs } = context
  const holds = (which: 'added' | 'changed'): Row[] =>
    snapshots.flatMap(({ id, held }) =>
      [...held[which]].flatMap((owner) => held.find(owner) ?? []).map((one) => toHoldRow(id, one)),
    )
  const waiters = (which: 'added' | 'changed'): Row[] =>
    snapshots.flatMap(({ id, queue }) =>
      [...queue[which]].flatMap((at) => queue.at(at) ?? []).map((one) => toWaiterRow(id, one)),
    )
  const references = snapshots.flatMap(({ id, resource }) =>
    [...resource.changedNodes].map((node) => ({
      key_id: id,
      node,
      since_ms: nowMs,
      claim_by_ms: orNever(resource.reference(node)?.claimByMs ?? Infinity),
    })),
  )
  const successes = snapshots.flatMap(({ id, resource }) =>
    [...resource.changedTypes]
      .flatMap((type) => resource.remembered(type) ?? [])
      .map((remembered) => toSuccessRow(id, remembered)),
  )
  const history = snapshots.flatMap((snapshot) => historyOf(context, snapshot))
  return [
    ...insertAll('holdfast_holds', holds('added')),
    ...put(context, 'holdfast_holds', { by: ['key_id', 'owner'], rows: holds('changed') }),
    ...insertAll('holdfast_waiters', waiters('added')),
    ...put(context, 'holdfast_waiters', { by: ['key_id', 'place'], rows: waiters('changed') }),
    ...put(context, 'holdfast_refs', {
      by: ['key_id', 'node'],
      fixed: ['since_ms'],
      rows: references,
    }),
    ...put(context, 'holdfast_successes', { by: ['key_id', 'type'], rows: successes }),
    ...insertAll('holdfast_history', history),
  ]
}

function historyOf({ nowMs }: TransactionContext, { namespace, key, held }: KeySnapshot): Row[] {
  return held.ends
    .filter(({ end }) => toHistoryEnd(end) !== undefined)
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

/**
 * When the key is looked at next. A moment that is too soon does no harm, and one that stays as it is spares
 * the database an index: a key that is taken and given back all the time is looked at once in a lease.
 */
function nextLookAtMs(context: TransactionContext, snapshot: KeySnapshot): number {
  const dueAtMs = knownDueAtMs(context, snapshot)
  const { storedDueAtMs } = snapshot
  const isStoredSooner = storedDueAtMs !== null && storedDueAtMs > context.nowMs
  return isStoredSooner ? Math.min(storedDueAtMs, dueAtMs) : dueAtMs
}

/** The soonest moment of the key, as far as it is loaded: its holds, its waiters, its successes, its last end. */
function knownDueAtMs(context: TransactionContext, snapshot: KeySnapshot): number {
  const { held, queue, resource } = snapshot
  const parts = [...held.known().map(dueAtMsOfHold), ...queue.known.map(dueAtMsOfWaiter)]
  const isIdle = held.count === 0 && queue.length === 0
  const lastEnd = isIdle ? snapshot.ends.untilMs(context.nowMs) : null
  return Math.min(resource.dueAtMs, lastEnd ?? Infinity, ...parts)
}

/** Of what was not loaded the tables know when it is due, once everything else is written. */
function dueStatements(
  partial: readonly KeySnapshot[],
  due: ReadonlyMap<KeySnapshot, number>,
): Statement[] {
  if (partial.length === 0) return []
  const updates = partial.map((snapshot) => {
    const { id } = snapshot
    return statement`update holdfast_keys set due_at_ms = (
      select min(due) from (
        select min(due_at_ms) as due from holdfast_holds where key_id = ${id}
        union all select min(due_at_ms) as due from holdfast_waiters where key_id = ${id}
        union all select ${orNever(due.get(snapshot) ?? Infinity)} as due
      ) soonest) where id = ${id}`
  })
  const ids = joined(partial.map(({ id }) => id))
  return [
    ...updates,
    statement`select id, due_at_ms as due from holdfast_keys where id in (${ids})`,
  ]
}

function toKeyRow(
  { nowMs }: TransactionContext,
  snapshot: KeySnapshot,
  { endedCount, dueAtMs }: { readonly endedCount: number; readonly dueAtMs: number },
): Row {
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
    ended_count: endedCount,
    ended_until_ms: snapshot.ends.untilMs(nowMs),
    due_at_ms: orNever(dueAtMs),
  }
}

/** What ended in this transaction, and what is too old to be told of. */
function writeEnds(ends: ReadonlyMap<KeySnapshot, EndsWritten>): Statement[] {
  const written = [...ends]
  const rows = written.flatMap(([{ id }, { added }]) => added.map((one) => toEndRow(id, one)))
  const removals = written.flatMap(([{ id }, { keptFrom }]) =>
    keptFrom === 0
      ? []
      : [statement`delete from holdfast_ends where key_id = ${id} and number < ${keptFrom}`],
  )
  return [...removals, ...insertAll('holdfast_ends', rows)]
}

const KEY_TEXTS: ReadonlySet<string> = new Set(['writer', 'passes'])

/** They are locked, and so they are there. */
function changeKeys({ dialect }: TransactionContext, rows: readonly Row[]): Statement[] {
  return inParts(rows).map((part) => {
    const put = { by: ['id'], fixed: ['space', 'name'], rows: part }
    return dialect.change('holdfast_keys', put, KEY_TEXTS)
  })
}

function put({ dialect }: TransactionContext, table: TableName, upsert: Upsert): Statement[] {
  return inParts(upsert.rows).map((rows) => dialect.upsert(table, { ...upsert, rows }))
}

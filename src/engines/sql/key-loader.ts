import type { Selectable } from 'kysely'
import { selectSessions, takeSessions } from './key-parts.ts'
import { KeySnapshot } from './key-snapshot.ts'
import type { NumberedEnd } from './ends-snapshot.ts'
import { toEnd, toHold, toRemembered, toWaiter } from './row-codec.ts'
import type {
  EndTable,
  HoldTable,
  KeyTable,
  LockedRow,
  ReferenceTable,
  SuccessTable,
  WaiterTable,
} from './schema.ts'
import type { KeyName, SqlDialect } from './sql-dialect.ts'
import { joined, type Rows, type Statement, statement, words } from './statement.ts'
import type { TransactionContext } from './transaction-context.ts'

/** Of a key with no more than this, everything is loaded before anyone asks. */
const HOLDS_WHOLE = 16
const WAITERS_WHOLE = 64
const REFERENCES_WHOLE = 64

type KeyRow = Selectable<KeyTable>

/** The name of a key among others: a space and a name. */
export function keyOf({ space, name }: KeyName): string {
  return `${space} ${name}`
}

/** The columns of a `LockedRow`. */
export const BRIEFLY = 'id, version, space, name'

/**
 * Locks those of these keys that have a row, at least one name, in one order, so that two transactions
 * never wait for each other crosswise.
 */
export function lockKeys(
  dialect: SqlDialect,
  names: readonly KeyName[],
  columns: '*' | typeof BRIEFLY = '*',
): Statement {
  const inOrder = [...names].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  const from = words(`holdfast_keys ${dialect.useIndex('space')}`)
  return statement`
    select ${words(columns)} from ${from} where ${anyOf(inOrder)}
    order by space, name ${words(dialect.forUpdate)}`
}

function anyOf(names: readonly KeyName[]): Statement {
  const bySpace = (['lock', 'operation'] as const).flatMap((space) => {
    const ofSpace = names.filter((one) => one.space === space).map(({ name }) => name)
    if (ofSpace.length === 0) return []
    return [statement`(space = ${space} and name in (${joined(ofSpace)}))`]
  })
  return joined(bySpace, ' or ')
}

/** What the keys of these names remember, to be asked when they are locked. */
export function selectEnds(names: readonly KeyName[]): Statement {
  return statement`
    select * from holdfast_ends
    where key_id in (select id from holdfast_keys where ${anyOf(names)}) order by number`
}

/**
 * Load of keys what most decisions need, with as few round trips for all of them as for one. What they
 * remember may have been asked for already.
 */
export async function loadKeys(
  context: TransactionContext,
  rows: readonly KeyRow[],
  ends?: Rows,
): Promise<KeySnapshot[]> {
  const byId = new Map(rows.map((row) => [row.id, new KeySnapshot(row, context)]))
  const loads = [
    holdsOf(rows, byId),
    queuesOf(context, rows, byId),
    successesOf(rows, byId),
    referencesOf(rows, byId),
    ends === undefined ? endsOf(context, rows, byId) : undefined,
  ].filter((load) => load !== undefined)
  await runLoads(context, loads)
  if (ends !== undefined) takeEnds(byId, ends)
  const snapshots = [...byId.values()]
  await loadSessionsOf(context, snapshots)
  return snapshots
}

/** The whole rows of keys that are locked. */
export async function completeRows(
  { db, dialect }: TransactionContext,
  rows: readonly LockedRow[],
): Promise<KeyRow[]> {
  if (rows.length === 0) return []
  const ids = joined(rows.map(({ id }) => id))
  const select = statement`select * from holdfast_keys where id in (${ids})`
  const [whole = []] = await dialect.run(db, [select])
  return whole as unknown as KeyRow[]
}

/** A part of several keys: how it is asked for, and where it goes. */
interface Load {
  readonly select: Statement
  readonly take: (rows: Rows) => void
}

async function runLoads(
  { db, dialect }: TransactionContext,
  loads: readonly Load[],
): Promise<void> {
  if (loads.length === 0) return
  const found = await dialect.run(
    db,
    loads.map(({ select }) => select),
  )
  for (const [index, { take }] of loads.entries()) take(found[index] ?? [])
}

type SnapshotsById = ReadonlyMap<number, KeySnapshot>

function idsWhere(rows: readonly KeyRow[], count: (row: KeyRow) => number, most: number): number[] {
  return rows.filter((row) => count(row) > 0 && count(row) <= most).map(({ id }) => id)
}

function holdsOf(rows: readonly KeyRow[], byId: SnapshotsById): Load | undefined {
  const ids = idsWhere(rows, ({ holds }) => holds, HOLDS_WHOLE)
  if (ids.length === 0) return undefined
  return {
    select: statement`select * from holdfast_holds where key_id in (${joined(ids)})`,
    take: (found) => {
      for (const row of found as unknown as Selectable<HoldTable>[])
        byId.get(row.key_id)?.held.take([toHold(row)])
      for (const id of ids) byId.get(id)?.held.takeWhole()
    },
  }
}

function queuesOf(
  { process }: TransactionContext,
  rows: readonly KeyRow[],
  byId: SnapshotsById,
): Load | undefined {
  const ids = idsWhere(rows, ({ waiters }) => waiters, WAITERS_WHOLE)
  if (ids.length === 0) return undefined
  return {
    select: statement`select * from holdfast_waiters where key_id in (${joined(ids)})`,
    take: (found) => {
      for (const row of found as unknown as Selectable<WaiterTable>[])
        byId.get(row.key_id)?.queue.take([toWaiter(row, process)])
      for (const id of ids) byId.get(id)?.queue.takeWhole()
    },
  }
}

function successesOf(rows: readonly KeyRow[], byId: SnapshotsById): Load | undefined {
  const ids = idsWhere(rows, ({ successes }) => successes, Infinity)
  if (ids.length === 0) return undefined
  return {
    select: statement`select * from holdfast_successes where key_id in (${joined(ids)})`,
    take: (found) => {
      const successes = found as unknown as Selectable<SuccessTable>[]
      for (const id of ids) {
        const ofKey = successes.filter((row) => row.key_id === id)
        byId.get(id)?.resource.takeSuccesses(ofKey.map(toRemembered))
      }
    },
  }
}

function referencesOf(rows: readonly KeyRow[], byId: SnapshotsById): Load | undefined {
  const ids = idsWhere(rows, ({ refs }) => refs, REFERENCES_WHOLE)
  if (ids.length === 0) return undefined
  return {
    select: statement`
      select * from holdfast_refs where key_id in (${joined(ids)}) order by since_ms`,
    take: (found) => {
      for (const { key_id: id, node } of found as unknown as Selectable<ReferenceTable>[])
        byId.get(id)?.resource.takeReferences([node])
      for (const id of ids) byId.get(id)?.resource.takeWhole()
    },
  }
}

/** Whoever decides nothing needs none of them. */
function endsOf(
  { isReading }: TransactionContext,
  rows: readonly KeyRow[],
  byId: SnapshotsById,
): Load | undefined {
  const ids = idsWhere(rows, ({ ended_count: count }) => count, Infinity)
  if (ids.length === 0 || isReading) return undefined
  return {
    select: statement`
      select * from holdfast_ends where key_id in (${joined(ids)}) order by number`,
    take: (found) => takeEnds(byId, found),
  }
}

function takeEnds(byId: SnapshotsById, found: Rows): void {
  const ofKeys = new Map<number, NumberedEnd[]>()
  for (const row of found as unknown as Selectable<EndTable>[]) {
    const ofKey = ofKeys.get(row.key_id)
    if (ofKey === undefined) ofKeys.set(row.key_id, [toEnd(row)])
    else ofKey.push(toEnd(row))
  }
  for (const [id, ends] of ofKeys) byId.get(id)?.ends.take(ends)
}

/** Every decision on a key asks whether the sessions of its holds are alive. */
export async function loadSessionsOf(
  context: TransactionContext,
  snapshots: readonly KeySnapshot[],
): Promise<void> {
  const ids = new Set<string>()
  for (const snapshot of snapshots) {
    for (const session of snapshot.sessions()) if (!context.sessions.has(session)) ids.add(session)
  }
  if (ids.size === 0) return
  const { db, dialect } = context
  const [rows = []] = await dialect.run(db, [selectSessions(context, ids)])
  takeSessions(context, ids, rows)
}

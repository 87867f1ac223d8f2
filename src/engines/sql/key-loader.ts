import type { Selectable } from 'kysely'
import { selectSessions, takeSessions } from './key-parts.ts'
import { KeySnapshot } from './key-snapshot.ts'
import { toHold, toRemembered, toWaiter } from './row-codec.ts'
import type { HoldTable, KeyTable, ReferenceTable, SuccessTable, WaiterTable } from './schema.ts'
import type { SnapshotCache } from './snapshot-cache.ts'
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

/**
 * Locks those of these keys that have a row, at least one name, in one order, so that two transactions
 * never wait for each other crosswise.
 */
export function lockKeys(dialect: SqlDialect, names: readonly KeyName[]): Statement {
  const inOrder = [...names].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  return dialect.mayScanForLists ? selectEach(dialect, inOrder) : selectAll(dialect, inOrder)
}

function selectEach({ forUpdate }: SqlDialect, names: readonly KeyName[]): Statement {
  const each = names.map(
    ({ space, name }) => statement`
      (select * from holdfast_keys where space = ${space} and name = ${name} ${words(forUpdate)})`,
  )
  return joined(each, ' union all ')
}

function selectAll({ forUpdate }: SqlDialect, names: readonly KeyName[]): Statement {
  const bySpace = (['lock', 'operation'] as const).flatMap((space) => {
    const ofSpace = names.filter((one) => one.space === space).map(({ name }) => name)
    if (ofSpace.length === 0) return []
    return [statement`(space = ${space} and name in (${joined(ofSpace)}))`]
  })
  return statement`
    select * from holdfast_keys where ${joined(bySpace, ' or ')}
    order by space, name ${words(forUpdate)}`
}

export interface LoadOptions {
  /** What earlier transactions of this process have loaded. */
  readonly cache?: SnapshotCache
}

/** Load of keys what most decisions need, with as few round trips for all of them as for one. */
export async function loadKeys(
  context: TransactionContext,
  rows: readonly KeyRow[],
  { cache }: LoadOptions = {},
): Promise<KeySnapshot[]> {
  const unknown: KeyRow[] = []
  const byId = new Map<number, KeySnapshot>()
  for (const row of rows) {
    const kept = cache?.take(row)
    kept?.reopen(context)
    if (kept === undefined) unknown.push(row)
    byId.set(row.id, kept ?? new KeySnapshot(row, context))
  }
  const loads = [
    holdsOf(unknown, byId),
    queuesOf(context, unknown, byId),
    successesOf(unknown, byId),
    referencesOf(unknown, byId),
  ].filter((load) => load !== undefined)
  await runLoads(context, loads)
  const snapshots = [...byId.values()]
  await loadSessionsOf(context, snapshots)
  return snapshots
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

/** Every decision on a key asks whether the sessions of its holds are alive. */
async function loadSessionsOf(
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

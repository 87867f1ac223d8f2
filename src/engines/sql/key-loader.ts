import { type RawBuilder, type Selectable, sql } from 'kysely'
import { loadSessions } from './key-parts.ts'
import { KeySnapshot } from './key-snapshot.ts'
import { toHold, toRemembered, toWaiter } from './row-codec.ts'
import type { KeyTable } from './schema.ts'
import type { SnapshotCache } from './snapshot-cache.ts'
import type { Connection, KeyName, SqlDialect } from './sql-dialect.ts'
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
 * Lock keys, in one order, so that two transactions never wait for each other crosswise. Keys that are
 * wanted and have no row get one.
 */
export async function lockKeys(
  db: Connection,
  dialect: SqlDialect,
  { wanted, known }: { readonly wanted: readonly KeyName[]; readonly known: readonly KeyName[] },
): Promise<KeyRow[]> {
  const found = await selectKeys(db, dialect, [...wanted, ...known])
  const there = new Set(found.map(keyOf))
  const missing = wanted.filter((name) => !there.has(keyOf(name)))
  if (missing.length === 0) return found
  return [...found, ...(await dialect.insertKeys(db, missing))]
}

async function selectKeys(
  db: Connection,
  dialect: SqlDialect,
  names: readonly KeyName[],
): Promise<KeyRow[]> {
  if (names.length === 0) return []
  const inOrder = [...names].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  const query = dialect.selectKeys?.(inOrder) ?? selectTogether(dialect, names)
  return (await query.execute(db)).rows
}

function selectTogether(dialect: SqlDialect, names: readonly KeyName[]): RawBuilder<KeyRow> {
  const bySpace = (['lock', 'operation'] as const).flatMap((space) => {
    const ofSpace = names.filter((one) => one.space === space).map(({ name }) => name)
    if (ofSpace.length === 0) return []
    return [sql`(space = ${space} and name in (${sql.join(ofSpace)}))`]
  })
  return sql<KeyRow>`
    select * from holdfast_keys where ${sql.join(bySpace, sql` or `)}
    order by space, name ${dialect.forUpdate}`
}

/** Load of keys what most decisions need, with as few statements for all of them as for one. */
export async function loadKeys(
  context: TransactionContext,
  rows: readonly KeyRow[],
  { cache, sessions = [] }: LoadOptions = {},
): Promise<KeySnapshot[]> {
  const unknown: KeyRow[] = []
  const byId = new Map<number, KeySnapshot>()
  for (const row of rows) {
    const kept = cache?.take(row)
    kept?.reopen(context)
    if (kept === undefined) unknown.push(row)
    byId.set(row.id, kept ?? new KeySnapshot(row, context))
  }
  await loadAllHolds(context, unknown, byId)
  await loadWholeQueues(context, unknown, byId)
  await loadResources(context, unknown, byId)
  const snapshots = [...byId.values()]
  await loadSessionsOf(context, snapshots, sessions)
  return snapshots
}

export interface LoadOptions {
  /** What earlier transactions of this process have loaded. */
  readonly cache?: SnapshotCache
  /** Sessions that will be asked for, beside those of the keys. */
  readonly sessions?: Iterable<string>
}

function idsWhere(rows: readonly KeyRow[], count: (row: KeyRow) => number, most: number): number[] {
  return rows.filter((row) => count(row) > 0 && count(row) <= most).map(({ id }) => id)
}

async function loadAllHolds(
  { db }: TransactionContext,
  rows: readonly KeyRow[],
  byId: ReadonlyMap<number, KeySnapshot>,
): Promise<void> {
  const ids = idsWhere(rows, ({ holds }) => holds, HOLDS_WHOLE)
  if (ids.length === 0) return
  const found = await db
    .selectFrom('holdfast_holds')
    .selectAll()
    .where('key_id', 'in', ids)
    .execute()
  for (const row of found) byId.get(row.key_id)?.held.take([toHold(row)])
  for (const id of ids) byId.get(id)?.held.takeWhole()
}

async function loadWholeQueues(
  { db, process }: TransactionContext,
  rows: readonly KeyRow[],
  byId: ReadonlyMap<number, KeySnapshot>,
): Promise<void> {
  const ids = idsWhere(rows, ({ waiters }) => waiters, WAITERS_WHOLE)
  if (ids.length === 0) return
  const found = await db
    .selectFrom('holdfast_waiters')
    .selectAll()
    .where('key_id', 'in', ids)
    .execute()
  for (const row of found) byId.get(row.key_id)?.queue.take([toWaiter(row, process)])
  for (const id of ids) byId.get(id)?.queue.takeWhole()
}

async function loadResources(
  { db }: TransactionContext,
  rows: readonly KeyRow[],
  byId: ReadonlyMap<number, KeySnapshot>,
): Promise<void> {
  const withSuccesses = idsWhere(rows, ({ successes }) => successes, Infinity)
  if (withSuccesses.length > 0) {
    const found = await db
      .selectFrom('holdfast_successes')
      .selectAll()
      .where('key_id', 'in', withSuccesses)
      .execute()
    for (const id of withSuccesses) {
      const ofKey = found.filter((row) => row.key_id === id)
      byId.get(id)?.resource.takeSuccesses(ofKey.map(toRemembered))
    }
  }
  const withReferences = idsWhere(rows, ({ refs }) => refs, REFERENCES_WHOLE)
  if (withReferences.length === 0) return
  const found = await db
    .selectFrom('holdfast_refs')
    .selectAll()
    .where('key_id', 'in', withReferences)
    .orderBy('since_ms')
    .execute()
  for (const { key_id: id, node } of found) byId.get(id)?.resource.takeReferences([node])
  for (const id of withReferences) byId.get(id)?.resource.takeWhole()
}

/** Every decision on a key asks whether the sessions of its holds are alive; and there may be more. */
async function loadSessionsOf(
  context: TransactionContext,
  snapshots: readonly KeySnapshot[],
  asked: Iterable<string>,
): Promise<void> {
  const ids = new Set(asked)
  for (const { held, queue } of snapshots) {
    for (const { session } of [...held.known(), ...queue.known]) {
      if (session !== undefined && !context.sessions.has(session)) ids.add(session)
    }
  }
  if (ids.size > 0) await loadSessions(context, [...ids].sort())
}

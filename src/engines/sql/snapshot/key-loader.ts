import type { Selectable } from 'kysely'
import { selectSessions, takeSessions } from './key-parts.ts'
import { KeySnapshot } from './key-snapshot.ts'
import { toEnd, toHold, toReference, toRemembered, toWaiter } from './row-codec.ts'
import type {
  EndTable,
  HoldTable,
  KeyTable,
  LockedRow,
  ReferenceTable,
  SuccessTable,
  WaiterTable,
} from '../schema/schema.ts'
import type { KeyName, SqlDialect, TableName } from '../sql-dialect.ts'
import { joined, type Rows, type Statement, statement, words } from '../statement.ts'
import type { TransactionContext } from '../commit/transaction-context.ts'

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

/** Something of a key that is in a table of its own. */
interface Part {
  readonly table: TableName
  /** The column of the key that says how much there is of it. */
  readonly count: 'holds' | 'waiters' | 'successes' | 'refs' | 'ended_count'
  /** Of a key with more than this, nothing is loaded before anyone asks. */
  readonly most: number
  readonly order?: string
  take(snapshot: KeySnapshot, rows: Rows, context: TransactionContext): void
}

const ENDS: Part = {
  table: 'holdfast_ends',
  count: 'ended_count',
  most: Number.MAX_SAFE_INTEGER,
  order: 'number',
  take: ({ ends }, rows) => ends.take((rows as unknown as Selectable<EndTable>[]).map(toEnd)),
}

const PARTS: readonly Part[] = [
  ENDS,
  {
    table: 'holdfast_holds',
    count: 'holds',
    most: 16,
    take: ({ held }, rows) => {
      held.take((rows as unknown as Selectable<HoldTable>[]).map(toHold))
      held.takeWhole()
    },
  },
  {
    table: 'holdfast_waiters',
    count: 'waiters',
    most: 64,
    take: ({ queue }, rows, { process }) => {
      const waiters = rows as unknown as Selectable<WaiterTable>[]
      queue.take(waiters.map((row) => toWaiter(row, process)))
      queue.takeWhole()
    },
  },
  {
    table: 'holdfast_successes',
    count: 'successes',
    most: Number.MAX_SAFE_INTEGER,
    take: ({ resource }, rows) => {
      resource.takeSuccesses((rows as unknown as Selectable<SuccessTable>[]).map(toRemembered))
    },
  },
  {
    table: 'holdfast_refs',
    count: 'refs',
    most: 64,
    order: 'since_ms',
    take: ({ resource }, rows) => {
      resource.takeReferences((rows as unknown as Selectable<ReferenceTable>[]).map(toReference))
      resource.takeWhole()
    },
  },
]

/** What most decisions need of the keys of these names, to be asked when they are locked. */
export function selectParts(names: readonly KeyName[]): Statement[] {
  return PARTS.map((part) => {
    const few = words(`${part.count} between 1 and ${part.most}`)
    return selectPart(
      part,
      statement`select id from holdfast_keys where (${anyOf(names)}) and ${few}`,
    )
  })
}

function selectPart({ table, order }: Part, ids: Statement): Statement {
  const ordered = words(order === undefined ? '' : `order by ${order}`)
  return statement`select * from ${words(table)} where key_id in (${ids}) ${ordered}`
}

/**
 * Load of keys what most decisions need, with as few round trips for all of them as for one: none, where it
 * was asked for already.
 */
export async function loadKeys(
  context: TransactionContext,
  rows: readonly KeyRow[],
  asked?: readonly Rows[],
): Promise<KeySnapshot[]> {
  const byId = new Map(rows.map((row) => [row.id, new KeySnapshot(row, context)]))
  const snapshots = [...byId.values()]
  const wanted = PARTS.map((part) => ({ part, ids: idsWith(part, rows) }))
    // Whoever decides nothing does not ask how anything ended.
    .filter(({ part, ids }) => ids.length > 0 && !(context.isReading && part === ENDS))
  const selects = wanted.map(({ part, ids }) => selectPart(part, joined(ids)))
  const { db, dialect } = context
  const found = asked ?? (selects.length > 0 ? await dialect.run(db, selects) : [])
  for (const [index, { part, ids }] of wanted.entries()) {
    const ofKeys = byKey(found[asked === undefined ? index : PARTS.indexOf(part)] ?? [])
    for (const id of ids) {
      const snapshot = byId.get(id)
      if (snapshot !== undefined) part.take(snapshot, ofKeys.get(id) ?? [], context)
    }
  }
  await loadSessionsOf(context, snapshots)
  return snapshots
}

function idsWith({ count, most }: Part, rows: readonly KeyRow[]): number[] {
  return rows.filter((row) => row[count] > 0 && row[count] <= most).map(({ id }) => id)
}

function byKey(rows: Rows): Map<unknown, Rows[number][]> {
  const ofKeys = new Map<unknown, Rows[number][]>()
  for (const row of rows) {
    const ofKey = ofKeys.get(row['key_id'])
    if (ofKey === undefined) ofKeys.set(row['key_id'], [row])
    else ofKey.push(row)
  }
  return ofKeys
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

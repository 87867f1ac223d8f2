import { type Selectable, sql } from 'kysely'
import type { HistoryEntry, HistoryQuery, HistoryReply } from '../../engine/queries.ts'
import type { HistoryTable } from './schema.ts'
import type { Connection, KeyName } from './sql-dialect.ts'
import type { TransactionContext } from './transaction-context.ts'

const SHOWN = 100
const PER_KEY_MAX = 100
const KEPT_MS = 7 * 24 * 60 * 60 * 1000
const PAGE = 1_000

/** Rows that one statement removes, so that none locks the table for long. */
const REMOVED_AT_ONCE = 1_000

type HistoryRow = Selectable<HistoryTable>

/** Newest first, and of one key no more than are kept: what is above is removed only now and then. */
export async function readHistory(
  { db, nowMs }: TransactionContext,
  { key, namespace, limit = SHOWN }: HistoryQuery,
): Promise<HistoryReply> {
  const ends: HistoryEntry[] = []
  const counts = new Map<string, number>()
  let below = Number.MAX_SAFE_INTEGER
  for (;;) {
    let rows = db
      .selectFrom('holdfast_history')
      .selectAll()
      .where('id', '<', below)
      .where('to_ms', '>', nowMs - KEPT_MS)
    if (key !== undefined) rows = rows.where('name', '=', key)
    if (namespace !== undefined) rows = rows.where('space', '=', namespace)
    const page = await rows.orderBy('id', 'desc').limit(PAGE).execute()
    for (const row of page) {
      below = row.id
      const name = `${row.space} ${row.name}`
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      if (count <= PER_KEY_MAX) ends.push(toEntry(row))
      if (ends.length === limit) return { ends }
    }
    if (page.length < PAGE) return { ends }
  }
}

function toEntry(row: HistoryRow): HistoryEntry {
  return {
    namespace: row.space,
    key: row.name,
    owner: row.owner,
    mode: row.mode,
    token: row.token,
    fromMs: row.from_ms,
    toMs: row.to_ms,
    end: row.end_kind as HistoryEntry['end'],
  }
}

/** Removes what is too old, and what busy keys have too many of. Returns how many that were. */
export class HistoryTrimmer {
  /** Keys that have ended nothing since then have no more than they had. */
  #upTo = 0

  async trim(db: Connection, nowMs: number): Promise<number> {
    const old = await removeOlder(
      db,
      { table: 'holdfast_history', column: 'to_ms' },
      nowMs - KEPT_MS,
    )
    const newest = await db
      .selectFrom('holdfast_history')
      .select((eb) => eb.fn.max<number | null>('id').as('id'))
      .executeTakeFirstOrThrow()
    const full = await sql<KeyName>`
      select one.space, one.name from holdfast_history one
      join (select distinct space, name from holdfast_history where id > ${this.#upTo}) busy
        on busy.space = one.space and busy.name = one.name
      group by one.space, one.name having count(*) > ${PER_KEY_MAX}`.execute(db)
    let removed = old
    for (const name of full.rows) removed += await trimKey(db, name)
    this.#upTo = Number(newest.id ?? 0)
    return removed
  }
}

async function trimKey(db: Connection, { space, name }: KeyName): Promise<number> {
  const first = await db
    .selectFrom('holdfast_history')
    .select('id')
    .where('space', '=', space)
    .where('name', '=', name)
    .orderBy('id', 'desc')
    .limit(1)
    .offset(PER_KEY_MAX)
    .executeTakeFirst()
  if (first === undefined) return 0
  const result = await db
    .deleteFrom('holdfast_history')
    .where('space', '=', space)
    .where('name', '=', name)
    .where('id', '<=', first.id)
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

export interface AgingTable {
  readonly table: 'holdfast_events' | 'holdfast_letters' | 'holdfast_history'
  readonly column: 'at_ms' | 'to_ms'
}

/** Remove rows from before a moment, a few at a time. Returns how many that were. */
export async function removeOlder(
  db: Connection,
  { table, column }: AgingTable,
  beforeMs: number,
): Promise<number> {
  for (let removed = 0; ; ) {
    const { rows } = await sql<{ id: number }>`
      select id from ${sql.table(table)} where ${sql.ref(column)} < ${beforeMs}
      order by id limit ${sql.lit(REMOVED_AT_ONCE)}`.execute(db)
    const ids = rows.map(({ id }) => id)
    if (ids.length > 0) await db.deleteFrom(table).where('id', 'in', ids).execute()
    removed += ids.length
    if (ids.length < REMOVED_AT_ONCE) return removed
  }
}

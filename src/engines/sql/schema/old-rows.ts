import { sql } from 'kysely'
import { HISTORY_KEPT_MS, HISTORY_PER_KEY_MAX } from '../../../engine/history-rules.ts'
import { removeDeadServers } from '../server-registry.ts'
import type { Connection, KeyName } from '../sql-dialect.ts'
import { WATCHED_MS } from '../notify/watch-notice.ts'

/** A notification that nobody fetched for this long was written to a process that is gone. */
const LETTER_KEPT_MS = 10 * 60_000

/** Rows that one statement removes, so that none locks the table for long. */
const REMOVED_AT_ONCE = 1_000

interface AgingTable {
  readonly table: 'holdfast_events' | 'holdfast_letters' | 'holdfast_history'
  readonly column: 'at_ms' | 'to_ms'
  readonly keptMs: number
}

const AGING: readonly AgingTable[] = [
  { table: 'holdfast_events', column: 'at_ms', keptMs: WATCHED_MS },
  { table: 'holdfast_letters', column: 'at_ms', keptMs: LETTER_KEPT_MS },
  { table: 'holdfast_history', column: 'to_ms', keptMs: HISTORY_KEPT_MS },
]

/** Removes what is too old for anyone, and what busy keys have too much of. Any process may, at any time. */
export class OldRows {
  /** Keys that have ended nothing since then have no more ends than they had. */
  #trimmedUpTo = 0

  async remove(db: Connection, nowMs: number): Promise<void> {
    for (const one of AGING) await removeOlder(db, one, nowMs)
    await removeDeadServers(db, nowMs)
    await this.#trimHistory(db)
  }

  async #trimHistory(db: Connection): Promise<void> {
    const newest = await db
      .selectFrom('holdfast_history')
      .select((eb) => eb.fn.max<number | null>('id').as('id'))
      .executeTakeFirstOrThrow()
    const full = await sql<KeyName>`
      select one.space, one.name from holdfast_history one
      join (select distinct space, name from holdfast_history where id > ${this.#trimmedUpTo}) busy
        on busy.space = one.space and busy.name = one.name
      group by one.space, one.name having count(*) > ${HISTORY_PER_KEY_MAX}`.execute(db)
    for (const name of full.rows) await trimKey(db, name)
    this.#trimmedUpTo = Number(newest.id ?? 0)
  }
}

async function trimKey(db: Connection, { space, name }: KeyName): Promise<void> {
  const first = await db
    .selectFrom('holdfast_history')
    .select('id')
    .where('space', '=', space)
    .where('name', '=', name)
    .orderBy('id', 'desc')
    .limit(1)
    .offset(HISTORY_PER_KEY_MAX)
    .executeTakeFirst()
  if (first === undefined) return
  await db
    .deleteFrom('holdfast_history')
    .where('space', '=', space)
    .where('name', '=', name)
    .where('id', '<=', first.id)
    .execute()
}

/** Those with the lowest numbers are the oldest. */
async function removeOlder(
  db: Connection,
  { table, column, keptMs }: AgingTable,
  nowMs: number,
): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ id: number; at: number }>`
      select id, ${sql.ref(column)} as at from ${sql.table(table)}
      order by id limit ${sql.lit(REMOVED_AT_ONCE)}`.execute(db)
    const ids = rows.filter(({ at }) => at < nowMs - keptMs).map(({ id }) => id)
    if (ids.length > 0) await db.deleteFrom(table).where('id', 'in', ids).execute()
    if (ids.length < REMOVED_AT_ONCE) return
  }
}

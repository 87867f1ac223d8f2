import type { Selectable } from 'kysely'
import { HISTORY_KEPT_MS, HISTORY_PER_KEY_MAX } from '../../engine/history-rules.ts'
import type { HistoryEntry, HistoryQuery, HistoryReply } from '../../engine/queries.ts'
import { HISTORY_SHOWN } from '../../engine/validation/query-limits.ts'
import type { HistoryTable } from './schema/schema.ts'
import type { TransactionContext } from './commit/transaction-context.ts'

const PAGE = 1_000

type HistoryRow = Selectable<HistoryTable>

/** Newest first, and of one key no more than are kept: what is above is removed only now and then. */
export async function readHistory(
  { db, nowMs }: TransactionContext,
  { key, namespace, limit = HISTORY_SHOWN }: HistoryQuery,
): Promise<HistoryReply> {
  const ends: HistoryEntry[] = []
  const counts = new Map<string, number>()
  let below = Number.MAX_SAFE_INTEGER
  for (;;) {
    let rows = db
      .selectFrom('holdfast_history')
      .selectAll()
      .where('id', '<', below)
      .where('to_ms', '>', nowMs - HISTORY_KEPT_MS)
    if (key !== undefined) rows = rows.where('name', '=', key)
    if (namespace !== undefined) rows = rows.where('space', '=', namespace)
    const page = await rows.orderBy('id', 'desc').limit(PAGE).execute()
    for (const row of page) {
      below = row.id
      const name = `${row.space} ${row.name}`
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      if (count <= HISTORY_PER_KEY_MAX) ends.push(toEntry(row))
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

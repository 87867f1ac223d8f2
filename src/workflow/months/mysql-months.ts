import { sql } from 'kysely'
import { withSchemaLock } from '../../engines/sql/mysql/mysql-schema-lock.ts'
import type { Connection } from '../../engines/sql/sql-dialect.ts'
import type { TransactionContext } from '../../engines/sql/commit/transaction-context.ts'
import {
  addMonths,
  type CalendarMonth,
  monthOf,
  monthsBetween,
  startOf,
} from '../calendar-month.ts'
import { LATER } from '../workflow-migrations.ts'
import type { MonthPartitions } from './month-partitions.ts'

const TABLE = 'workflow_assignments'

/** Whoever reads the table for longer must not make all others wait who come after us. */
const LOCK_WAIT_S = 2

/**
 * Each month is a partition, `m2026_11`. One ends where the next begins, so they are made in their order,
 * and what is before the first is in the first.
 */
export const mysqlMonths: MonthPartitions = {
  makeUpTo: ({ db, nowMs }: TransactionContext, last: CalendarMonth) =>
    withSchemaLock(db, async () => {
      const newest = (await listMonths(db)).at(-1)
      const first = newest === undefined ? monthOf(nowMs) : addMonths(newest, 1)
      const months = monthsBetween(first, last)
      if (months.length === 0) return
      const parts = months.map(
        (month) =>
          `partition ${toPartition(month)} values less than ('${startOf(addMonths(month, 1))}')`,
      )
      await alter(
        db,
        `reorganize partition ${LATER} into (
          ${parts.join(', ')}, partition ${LATER} values less than (maxvalue))`,
      )
    }),

  dropBefore: ({ db }: TransactionContext, month: CalendarMonth) =>
    withSchemaLock(db, async () => {
      const months = (await listMonths(db)).filter((one) => one < month)
      if (months.length > 0) await alter(db, `drop partition ${months.map(toPartition).join(', ')}`)
      return months
    }),
}

async function alter(db: Connection, change: string): Promise<void> {
  await sql.raw(`set session lock_wait_timeout = ${LOCK_WAIT_S}`).execute(db)
  try {
    await sql.raw(`alter table ${TABLE} ${change}`).execute(db)
  } finally {
    // A connection on which this fails is broken, and nobody gets it again.
    await sql`set session lock_wait_timeout = default`.execute(db).catch(() => {})
  }
}

/** In order. */
async function listMonths(db: Connection): Promise<CalendarMonth[]> {
  const { rows } = await sql<{ name: string | null }>`
    select partition_name as name from information_schema.partitions
    where table_schema = database() and table_name = ${TABLE}
    order by partition_ordinal_position`.execute(db)
  return rows.flatMap(({ name }) => {
    const [, year, month] = /^m(\d{4})_(\d{2})$/.exec(name ?? '') ?? []
    return year === undefined ? [] : [`${year}-${month}`]
  })
}

function toPartition(month: CalendarMonth): string {
  return `m${month.replace('-', '_')}`
}

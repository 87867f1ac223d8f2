import { sql } from 'kysely'
import type { TransactionContext } from '../../engines/sql/commit/transaction-context.ts'
import { type CalendarMonth, startOf } from '../calendar-month.ts'
import type { MonthPartitions } from './month-partitions.ts'

/** SQLite has no partitions: months are rows with dates. */
export const sqliteMonths: MonthPartitions = {
  makeUpTo: async () => {},

  async dropBefore({ db }: TransactionContext, month: CalendarMonth): Promise<CalendarMonth[]> {
    const { rows } = await sql<{ month: CalendarMonth }>`
      select distinct substr(assigned_at, 1, 7) as month from workflow_assignments
      where assigned_at < ${startOf(month)} order by 1`.execute(db)
    await sql`delete from workflow_assignments where assigned_at < ${startOf(month)}`.execute(db)
    return rows.map((row) => row.month)
  },
}

import { sql } from 'kysely'
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
const LATER_TABLE = `${TABLE}_${LATER}`

/** Whoever reads the table for longer must not make all others wait who come after us. */
const LOCK_TIMEOUT = `set local lock_timeout = '2s'`

/** Each month is a table, `workflow_assignments_2026_11`. */
export const postgresMonths: MonthPartitions = {
  async makeUpTo({ db, nowMs }: TransactionContext, last: CalendarMonth): Promise<void> {
    await lockMonths(db)
    const there = new Set(await listMonths(db))
    const wanted = new Set([
      ...(await listMonthsOfLater(db)),
      ...monthsBetween(monthOf(nowMs), last),
    ])
    const missing = [...wanted].filter((month) => !there.has(month))
    if (missing.length === 0) return
    await run(db, `lock table ${LATER_TABLE} in access exclusive mode`)
    for (const month of missing) await makeMonth(db, month)
  },

  async dropBefore({ db }: TransactionContext, month: CalendarMonth): Promise<CalendarMonth[]> {
    await lockMonths(db)
    const months = (await listMonths(db)).filter((one) => one < month)
    if (months.length === 0) return []
    await run(db, `drop table ${months.map(toTable).join(', ')}`)
    return months
  },
}

/**
 * One process at a time makes and drops them; readers and writers go on until a month comes or goes. It is
 * locked before anything is read: two who had both read would each be in the way of the other's change.
 */
async function lockMonths(db: Connection): Promise<void> {
  await run(db, LOCK_TIMEOUT)
  await run(db, `lock table only ${TABLE} in share update exclusive mode`)
}

/** Attached when it is whole: unlike one that is made as a part, it stops nobody until then. */
async function makeMonth(db: Connection, month: CalendarMonth): Promise<void> {
  const table = toTable(month)
  const [from, to] = [`'${startOf(month)}+00'`, `'${startOf(addMonths(month, 1))}+00'`]
  await run(db, `create table ${table} (like ${TABLE} including defaults including constraints)`)
  await run(
    db,
    `with moved as (
      delete from ${LATER_TABLE} where assigned_at >= ${from} and assigned_at < ${to} returning *
    ) insert into ${table} select * from moved`,
  )
  await run(
    db,
    `alter table ${TABLE} attach partition ${table} for values from (${from}) to (${to})`,
  )
}

/** In order. */
async function listMonths(db: Connection): Promise<CalendarMonth[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = ${TABLE}::regclass order by 1`.execute(db)
  return rows.flatMap(({ name }) => {
    const [, year, month] = /_(\d{4})_(\d{2})$/.exec(name) ?? []
    return year === undefined ? [] : [`${year}-${month}`]
  })
}

async function listMonthsOfLater(db: Connection): Promise<CalendarMonth[]> {
  const { rows } = await sql<{ month: CalendarMonth }>`
    select distinct to_char(assigned_at at time zone 'UTC', 'YYYY-MM') as month
    from ${sql.table(LATER_TABLE)}`.execute(db)
  return rows.map(({ month }) => month)
}

function toTable(month: CalendarMonth): string {
  return `${TABLE}_${month.replace('-', '_')}`
}

async function run(db: Connection, statement: string): Promise<void> {
  await sql.raw(statement).execute(db)
}

import type { SqlEngine } from '../engines/sql/sql-engine.ts'
import type { SqlDialect } from '../engines/sql/sql-dialect.ts'
import type { TransactionContext } from '../engines/sql/commit/transaction-context.ts'
import { addMonths, type CalendarMonth, monthOf } from './calendar-month.ts'
import type { MonthPartitions } from './months/month-partitions.ts'
import { mysqlMonths } from './months/mysql-months.ts'
import { postgresMonths } from './months/postgres-months.ts'
import { sqliteMonths } from './months/sqlite-months.ts'

/** Beside the present month, so many have their place in advance: one that cannot be made now can later. */
const MONTHS_AHEAD = 2

const PARTITIONS: Readonly<Record<SqlDialect['name'], MonthPartitions>> = {
  sqlite: sqliteMonths,
  postgres: postgresMonths,
  mysql: mysqlMonths,
}

/** Sees to it that there is a place for the assignments of each month before it begins. */
export class AssignmentMonths {
  readonly #engine: SqlEngine
  #lookedAt: CalendarMonth = ''
  #making: Promise<void> | undefined

  constructor(engine: SqlEngine) {
    this.#engine = engine
  }

  /** Something was written at this moment: the first time in a month, places for more are made. */
  note(atMs: number): void {
    if (monthOf(atMs) <= this.#lookedAt || this.#making !== undefined) return
    this.#making = this.make().finally(() => {
      this.#making = undefined
    })
  }

  /**
   * What cannot be made, because this user may not or because others are in the way, is tried again next
   * month and when somebody opens. Until then there is a place for everything, if not by month.
   */
  async make(): Promise<void> {
    try {
      await this.#engine.writeBeside(async (context) => {
        this.#lookedAt = monthOf(context.nowMs)
        await makeMonths(context)
      })
    } catch {
      // Locks do not depend on it.
    }
  }

  /** Never the present month, nor one that is still to come. */
  async dropBefore(month: CalendarMonth): Promise<CalendarMonth[]> {
    // What came before its month had a place goes there first, and can be dropped with it. In one transaction
    // with the rest it would keep those waiting who are in the way of that.
    await this.#engine.writeBeside(makeMonths)
    return this.#engine.writeBeside(async (context) => {
      const present = monthOf(context.nowMs)
      const first = month < present ? month : present
      return PARTITIONS[context.dialect.name].dropBefore(context, first)
    })
  }

  async settle(): Promise<void> {
    await this.#making
  }
}

async function makeMonths(context: TransactionContext): Promise<void> {
  const last = addMonths(monthOf(context.nowMs), MONTHS_AHEAD)
  await PARTITIONS[context.dialect.name].makeUpTo(context, last)
}

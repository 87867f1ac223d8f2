import type { TransactionContext } from '../../engines/sql/commit/transaction-context.ts'
import type { CalendarMonth } from '../calendar-month.ts'

/** How a database keeps assignments by month. */
export interface MonthPartitions {
  /** Give every month up to this one a place of its own. Does nothing where that is the case. */
  makeUpTo(context: TransactionContext, last: CalendarMonth): Promise<void>

  /** Drop the months before this one, with everything in them. Returns which there were, in order. */
  dropBefore(context: TransactionContext, month: CalendarMonth): Promise<CalendarMonth[]>
}

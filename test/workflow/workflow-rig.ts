import { type RawBuilder, sql } from 'kysely'
import { openSqlEngine } from '../../src/engines/sql/open-sql-engine.ts'
import type { SqlEngine } from '../../src/engines/sql/sql-engine.ts'
import type { Clock, Timer } from '../../src/time/clock.ts'
import { SystemClock } from '../../src/time/system-clock.ts'
import { openWorkflowLeases } from '../../src/workflow/open-workflow-leases.ts'
import type { WorkflowLeases } from '../../src/workflow/workflow-leases.ts'
import type { ServerKind } from '../engines/sql/test-servers.ts'

/** What a row of `workflow_assignments` says, with instants as milliseconds. */
export interface Assignment {
  readonly lock_key: string
  readonly owner: string
  readonly lock_type: string
  readonly token: number
  readonly assigned: number
  readonly expires: number
  readonly renewals: number
  readonly ended: number | null
  readonly ended_as: string | null
}

/** Stands still until it leaps, by months if need be: timers are real, and do not fire for each second. */
class LeapingClock implements Clock {
  readonly #timers = new SystemClock()
  #nowMs = Date.UTC(2026, 7, 15, 12)

  nowMs(): number {
    return this.#nowMs
  }

  wallMs(): number {
    return this.#nowMs
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    return this.#timers.setTimer(delayMs, callback)
  }

  leap(ms: number): void {
    this.#nowMs += ms
  }
}

/** Workflow leases on one database, on a clock that stands still; and the database itself. */
export class WorkflowRig {
  readonly clock: LeapingClock = new LeapingClock()
  readonly #kind: ServerKind
  readonly #where: string
  readonly #opened: { close(): Promise<void> }[] = []

  constructor(kind: ServerKind, where: string) {
    this.#kind = kind
    this.#where = where
  }

  get nowMs(): number {
    return this.clock.nowMs()
  }

  async openEngine(): Promise<SqlEngine> {
    const options = { clock: this.clock, isClockOurs: true }
    return this.#keep(await openSqlEngine(() => this.#kind.open(this.#where), options))
  }

  async openLeases(): Promise<WorkflowLeases> {
    return this.#keep(await openWorkflowLeases(await this.openEngine()))
  }

  /** On the clock of the database. */
  async openRealEngine(): Promise<SqlEngine> {
    return this.#keep(await openSqlEngine(() => this.#kind.open(this.#where)))
  }

  async openRealLeases(): Promise<WorkflowLeases> {
    return this.#keep(await openWorkflowLeases(await this.openRealEngine()))
  }

  async query<Row>(statement: RawBuilder<Row>): Promise<readonly Row[]> {
    const { db, close } = await this.#kind.open(this.#where)
    const { rows } = await statement.execute(db)
    await close()
    return rows.map((row) => ({ ...row }))
  }

  /** Run something while a transaction that has read the assignments is open. */
  async readWhile(run: () => Promise<void>): Promise<void> {
    const { db, close } = await this.#kind.open(this.#where)
    await db.transaction().execute(async (transaction) => {
      await sql`select * from workflow_assignments`.execute(transaction)
      await run()
    })
    await close()
  }

  /** In the order in which they were made. */
  async listAssignments(): Promise<readonly Assignment[]> {
    return this.query(sql<Assignment>`
      select lock_key, owner, lock_type, token, renewals, ended_as,
        ${this.toMs('assigned_at')} as assigned, ${this.toMs('expires_at')} as expires,
        ${this.toMs('ended_at')} as ended
      from workflow_assignments order by assigned_at, token`)
  }

  /** An instant of the database as milliseconds. */
  toMs(column: string): RawBuilder<number> {
    const value = sql.ref(column)
    switch (this.#kind.name) {
      case 'sqlite':
        return sql`cast(round((julianday(${value}) - 2440587.5) * 86400000) as integer)`
      case 'postgres':
        return sql`(extract(epoch from ${value}) * 1000)::bigint`
      case 'mysql':
        return sql`timestampdiff(microsecond, '1970-01-01 00:00:00', ${value}) div 1000`
      default:
        return this.#kind.name satisfies never
    }
  }

  #keep<T extends { close(): Promise<void> }>(one: T): T {
    this.#opened.push(one)
    return one
  }

  async close(): Promise<void> {
    for (const one of this.#opened.reverse()) await one.close().catch(() => {})
  }
}

import { sql } from 'kysely'
import type { Connection, SqlDialect } from './sql-dialect.ts'

/**
 * The clock that decides: that of the database, so that no two processes disagree about what has expired.
 * A test may put its own in its place.
 */
export class DatabaseClock {
  readonly #dialect: SqlDialect
  readonly #fixed: (() => number) | undefined

  constructor(dialect: SqlDialect, fixed?: () => number) {
    this.#dialect = dialect
    this.#fixed = fixed
  }

  async nowMs(db: Connection): Promise<number> {
    if (this.#fixed !== undefined) return this.#fixed()
    const { rows } = await sql<{ now: number }>`select ${this.#dialect.nowMs} as now`.execute(db)
    return Number(rows[0]?.now)
  }

  /** What a statement that read the clock itself found. */
  orFixed(nowMs: number): number {
    return this.#fixed?.() ?? nowMs
  }
}

import type { Connection, SqlDialect } from './sql-dialect.ts'
import { type Rows, type Statement, statement, words } from './statement.ts'

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
    const [rows] = await this.#dialect.run(db, [this.select])
    return this.toNowMs(rows)
  }

  /** To be asked together with something else. */
  get select(): Statement {
    return statement`select ${words(this.#dialect.nowMs)} as now`
  }

  /** What a statement found that read the clock as `now`. */
  toNowMs(rows: Rows | undefined): number {
    return this.#fixed?.() ?? Number(rows?.[0]?.['now'])
  }
}

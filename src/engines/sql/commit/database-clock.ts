import type { Clock } from '../../../time/clock.ts'
import { SystemClock } from '../../../time/system-clock.ts'
import { ClockEstimate } from './clock-estimate.ts'
import type { Connection, SqlDialect } from '../sql-dialect.ts'
import { type Rows, type Statement, statement, words } from '../statement.ts'

/** Whoever had to wait for longer looks first after all. */
export const GUESS_MS_MAX = 1_000

/**
 * The clock that decides: that of the database, so that no two processes disagree about what has expired.
 * A test may put its own in its place.
 */
export class DatabaseClock {
  readonly #dialect: SqlDialect
  readonly #fixed: (() => number) | undefined
  readonly #ours: Clock = new SystemClock()
  readonly #guess = new ClockEstimate(this.#ours)

  constructor(dialect: SqlDialect, fixed?: () => number) {
    this.#dialect = dialect
    this.#fixed = fixed
  }

  async nowMs(db: Connection): Promise<number> {
    if (this.#fixed !== undefined) return this.#fixed()
    const ask = this.asking()
    const [rows] = await this.#dialect.run(db, [this.select])
    return ask.toNowMs(rows)
  }

  /** To be asked together with something else. */
  get select(): Statement {
    return statement`select ${words(this.#dialect.nowMs)} as now`
  }

  /** What a statement found that read the clock as `now`. */
  toNowMs(rows: Rows | undefined): number {
    return this.#fixed?.() ?? Number(rows?.[0]?.['now'])
  }

  /** Somebody is about to ask, and says what was found as soon as it is heard: guesses live by that. */
  asking(): { toNowMs(rows: Rows | undefined): number } {
    const askedAtMs = this.#ours.nowMs()
    return {
      toNowMs: (rows) => {
        const nowMs = this.toNowMs(rows)
        if (this.#fixed === undefined) this.#guess.note(nowMs, askedAtMs)
        return nowMs
      },
    }
  }

  /** What it shows without being asked; a little less, if anything. `undefined` if nobody can say. */
  guess(): number | undefined {
    return this.#fixed?.() ?? this.#guess.guess()
  }

  /** Holds if a guess was good, where the clock was read as `now`. */
  isGood(guessedMs: number): Statement {
    if (this.#fixed !== undefined) return words('1 = 1')
    return statement`now >= ${guessedMs} and now < ${guessedMs + GUESS_MS_MAX}`
  }
}

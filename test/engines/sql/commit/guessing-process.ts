import { openSqlEngine, type SqlOptions } from '../../../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../../../src/engines/sql/sql-dialect.ts'
import type { SqlEngine } from '../../../../src/engines/sql/sql-engine.ts'
import type { Acquire, Release } from '../../../../src/law/model/commands.ts'
import type { Outcome } from '../../../../src/law/model/outcomes.ts'
import type { Clock } from '../../../../src/time/clock.ts'

const STILL = { cancel: () => {}, ref: () => {}, unref: () => {} }

/** A clock whose timers never fire, so that an engine does nothing but what it is asked. */
export function createStillClock(nowMs: () => number): Clock {
  return { nowMs, wallMs: nowMs, setTimer: () => STILL }
}

/** What was asked of the database. */
export interface Asked<T> {
  readonly result: T
  /** Round trips, with those that failed. */
  readonly trips: number
  /** Guesses that the database refused because they were wrong. */
  readonly refuted: number
}

/** An engine as one of several processes has it on the same database, which counts what it asks. */
export class OptimisticProcess {
  readonly engine: SqlEngine
  readonly #counts: { trips: number; refuted: number }
  #requests = 0

  private constructor(engine: SqlEngine, counts: { trips: number; refuted: number }) {
    this.engine = engine
    this.#counts = counts
  }

  static async open(
    open: () => Promise<SqlDatabase>,
    options: SqlOptions,
  ): Promise<OptimisticProcess> {
    const counts = { trips: 0, refuted: 0 }
    const engine = await openSqlEngine(async () => observe(await open(), counts), options)
    return new OptimisticProcess(engine, counts)
  }

  acquire(owner: string, key: string, more: Partial<Acquire> = {}): Promise<Outcome> {
    this.#requests += 1
    const requestId = `r${this.#requests}`
    return this.engine.apply({ kind: 'acquire', key, owner, requestId, ...more })
  }

  release(owner: string, key: string, more: Partial<Release> = {}): Promise<Outcome> {
    return this.engine.apply({ kind: 'release', key, owner, ...more })
  }

  async during<T>(work: () => Promise<T>): Promise<Asked<T>> {
    const before = { ...this.#counts }
    const result = await work()
    const { trips, refuted } = this.#counts
    return { result, trips: trips - before.trips, refuted: refuted - before.refuted }
  }

  close(): Promise<void> {
    return this.engine.close()
  }

  /** Nothing changes by it: a stranger has nothing to give back. */
  async look(key: string): Promise<void> {
    await this.release('stranger', key)
  }
}

function observe(database: SqlDatabase, counts: { trips: number; refuted: number }): SqlDatabase {
  const { dialect } = database
  const { guess } = dialect
  if (guess === undefined) throw new Error(`nobody guesses on ${dialect.name}`)
  return {
    ...database,
    dialect: {
      ...dialect,
      run: (db, statements) => {
        counts.trips += 1
        return dialect.run(db, statements)
      },
      guess: {
        ...guess,
        isRefuted: (error) => {
          const isRefuted = guess.isRefuted(error)
          if (isRefuted) counts.refuted += 1
          return isRefuted
        },
      },
    },
  }
}

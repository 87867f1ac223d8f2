import { randomInt } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Clock } from '../../time/clock.ts'
import { SystemClock } from '../../time/system-clock.ts'
import type { SqlSchema } from './schema.ts'
import type { Connection, SqlDatabase } from './sql-dialect.ts'
import { toRefused, toUnavailable } from './sql-errors.ts'

/** How long a transaction is tried again that others stand in the way of. */
const CONFLICT_PATIENCE_MS = 10_000
const CONFLICT_PAUSE_MS_MAX = 50

/** Runs transactions: again after a conflict, and never pretending to know what became of a commit. */
export class Transactor {
  readonly #database: SqlDatabase
  readonly #clock: Clock

  constructor(database: SqlDatabase, clock: Clock = new SystemClock()) {
    this.#database = database
    this.#clock = clock
  }

  /**
   * A transaction that writes. `work` may run several times and must have no effect beside the database.
   * Throws a `LockError` that says whether the commit may have happened.
   */
  async write<T>(work: (db: Connection) => Promise<T>): Promise<T> {
    const { begin } = this.#database.dialect
    return this.#untilNoConflict(() => this.#once([begin], work))
  }

  /** A transaction that reads a single moment. */
  async read<T>(work: (db: Connection) => Promise<T>): Promise<T> {
    const { beginReading } = this.#database.dialect
    return this.#untilNoConflict(() => this.#once(beginReading, work))
  }

  /** Statements that each stand for themselves, and that may be done again. */
  async run<T>(work: (db: Connection) => Promise<T>): Promise<T> {
    return this.#untilNoConflict(() => work(this.#database.db))
  }

  async #untilNoConflict<T>(attempt: () => Promise<T>): Promise<T> {
    const startedAtMs = this.#clock.nowMs()
    for (let tries = 0; ; tries += 1) {
      try {
        return await attempt()
      } catch (error) {
        const failure = this.#database.dialect.classify(causeOf(error))
        const isLate = this.#clock.nowMs() - startedAtMs > CONFLICT_PATIENCE_MS
        if (failure === 'other') throw toRefused(causeOf(error), appliedBy(error))
        if (failure === 'connection' || isLate)
          throw toUnavailable(causeOf(error), appliedBy(error))
        await this.#pause(tries)
      }
    }
  }

  /** Longer each time, and never the same for two that met. */
  #pause(tries: number): Promise<void> {
    const mostMs = Math.min(CONFLICT_PAUSE_MS_MAX, 2 ** tries)
    return new Promise((resolve) => {
      this.#clock.setTimer(randomInt(mostMs + 1), resolve).ref()
    })
  }

  async #once<T>(begin: readonly string[], work: (db: Connection) => Promise<T>): Promise<T> {
    return this.#database.db.connection().execute(async (connection) => {
      for (const statement of begin) await run(connection, statement)
      let result: T
      try {
        result = await work(connection)
      } catch (error) {
        await rollBack(connection)
        throw error
      }
      await commit(connection)
      return result
    })
  }
}

async function run(connection: Kysely<SqlSchema>, statement: string): Promise<void> {
  await sql.raw(statement).execute(connection)
}

/** A connection on which this fails is broken, and the database rolls back by itself. */
async function rollBack(connection: Kysely<SqlSchema>): Promise<void> {
  try {
    await run(connection, 'rollback')
  } catch {
    // The error that brought us here says more.
  }
}

async function commit(connection: Kysely<SqlSchema>): Promise<void> {
  try {
    await run(connection, 'commit')
  } catch (error) {
    await rollBack(connection)
    throw new CommitError(error)
  }
}

/** A commit was sent, and the answer to it was an error. */
class CommitError extends Error {
  constructor(cause: unknown) {
    super('the commit failed', { cause })
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof CommitError ? error.cause : error
}

function appliedBy(error: unknown): 'no' | 'maybe' {
  return error instanceof CommitError ? 'maybe' : 'no'
}

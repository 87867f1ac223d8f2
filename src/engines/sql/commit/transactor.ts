import { randomInt } from 'node:crypto'
import type { Clock } from '../../../time/clock.ts'
import { SystemClock } from '../../../time/system-clock.ts'
import type { Connection, SqlDatabase } from '../sql-dialect.ts'
import { toRefused, toUnavailable } from '../sql-errors.ts'
import { type Rows, type Statement, words } from '../statement.ts'

/** How long a transaction is tried again that did not happen. */
const PATIENCE_MS = 10_000
/** Between two attempts. Who takes a server's place needs longer than who stands in the way. */
const PAUSE_MS_MAX = { conflict: 50, standby: 1_000 } as const

const COMMIT = words('commit')
const ROLLBACK = words('rollback')

/** A transaction that knows what it asks first and writes last needs two round trips. */
export interface Script<T> {
  /** Sent together with what begins the transaction. */
  readonly first: readonly Statement[]
  /** May run several times and must have no effect beside the database. */
  work(db: Connection, found: readonly Rows[]): Promise<Closing<T>>
}

/** How a transaction ends that has decided. */
export interface Closing<T> {
  /** Sent together with the commit. */
  readonly last: readonly Statement[]
  /** What comes of it, from what those found. */
  toResult(found: readonly Rows[]): T
}

/** A transaction that was decided before anyone looked, and that the database refuses if it was wrong. */
export interface Guess<T> {
  /** All of it, sent together. */
  readonly statements: readonly Statement[]
  /** What comes of it, from what those found. */
  toResult(found: readonly Rows[]): T
  /** It was wrong. */
  onRefuted(): void
}

/** Runs transactions: again where they did not happen, and never pretending to know what became of a commit. */
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
    return this.writeScript(withoutScript(work))
  }

  /** The same, in as few round trips as there can be. */
  async writeScript<T>(script: Script<T>): Promise<T> {
    const begin = this.#database.dialect.begin.map(words)
    return this.#untilItHappens(async () => {
      try {
        return await this.#once(begin, script)
      } catch (error) {
        if (!this.#isRefusedAtEnd(error)) throw error
        return this.#once(begin, this.#inSteps(script))
      }
    })
  }

  /**
   * A transaction in one round trip. Returns `undefined` if it did not happen, for whatever reason: whoever
   * looks first is told why. Throws if nobody knows.
   */
  async tryOptimistic<T>({ statements, toResult, onRefuted }: Guess<T>): Promise<T | undefined> {
    const { db, dialect } = this.#database
    const begin = dialect.begin.map(words)
    const found = await db
      .connection()
      .execute((connection) => this.#commit(connection, [...begin, ...statements]))
      .catch((error: unknown) => {
        if (!(error instanceof CommitError)) return undefined
        const { cause } = error
        if (dialect.classify(cause) === 'connection') throw toUnavailable(cause, 'maybe')
        if (dialect.guess?.isRefuted(cause)) onRefuted()
        return undefined
      })
    return found && toResult(found.slice(begin.length))
  }

  /** Something was refused that was sent with the commit: a statement, or the commit itself. */
  #isRefusedAtEnd(error: unknown): boolean {
    const { classify } = this.#database.dialect
    return error instanceof CommitError && classify(error.cause) === 'other'
  }

  /** So that it is known which of them it is, and with that whether anything can have happened. */
  #inSteps<T>({ first, work }: Script<T>): Script<T> {
    return {
      first,
      work: async (db, opened) => {
        const { last, toResult } = await work(db, opened)
        const found = last.length > 0 ? await this.#database.dialect.run(db, last) : []
        return { last: [], toResult: () => toResult(found) }
      },
    }
  }

  /** A transaction that reads a single moment. */
  async read<T>(work: (db: Connection) => Promise<T>): Promise<T> {
    const begin = this.#database.dialect.beginReading.map(words)
    return this.#untilItHappens(() => this.#once(begin, withoutScript(work)))
  }

  /** Statements that each stand for themselves, and that may be done again. */
  async run<T>(work: (db: Connection) => Promise<T>): Promise<T> {
    return this.#untilItHappens(() => work(this.#database.db))
  }

  async #untilItHappens<T>(attempt: () => Promise<T>): Promise<T> {
    const startedAtMs = this.#clock.nowMs()
    for (let tries = 0; ; tries += 1) {
      try {
        return await attempt()
      } catch (error) {
        const failure = this.#database.dialect.classify(causeOf(error))
        const isLate = this.#clock.nowMs() - startedAtMs > PATIENCE_MS
        if (failure === 'other') throw toRefused(causeOf(error), appliedBy(error))
        if (failure === 'connection' || isLate)
          throw toUnavailable(causeOf(error), appliedBy(error))
        await this.#pause(tries, PAUSE_MS_MAX[failure])
      }
    }
  }

  /** Longer each time, and never the same for two that met. */
  #pause(tries: number, longestMs: number): Promise<void> {
    const mostMs = Math.min(longestMs, 2 ** tries)
    return new Promise((resolve) => {
      this.#clock.setTimer(randomInt(mostMs + 1), resolve).ref()
    })
  }

  async #once<T>(begin: readonly Statement[], { first, work }: Script<T>): Promise<T> {
    const { db, dialect } = this.#database
    return db.connection().execute(async (connection) => {
      let closing: Closing<T>
      try {
        const found = await dialect.run(connection, [...begin, ...first])
        closing = await work(connection, found.slice(begin.length))
      } catch (error) {
        await this.#rollBack(connection)
        throw error
      }
      return closing.toResult(await this.#commit(connection, closing.last))
    })
  }

  /** A connection on which this fails is broken, and the database rolls back by itself. */
  async #rollBack(connection: Connection): Promise<void> {
    try {
      await this.#database.dialect.run(connection, [ROLLBACK])
    } catch {
      // The error that brought us here says more.
    }
  }

  async #commit(connection: Connection, last: readonly Statement[]): Promise<readonly Rows[]> {
    try {
      return await this.#database.dialect.run(connection, [...last, COMMIT])
    } catch (error) {
      await this.#rollBack(connection)
      throw new CommitError(error)
    }
  }
}

function withoutScript<T>(work: (db: Connection) => Promise<T>): Script<T> {
  return {
    first: [],
    work: async (db) => {
      const result = await work(db)
      return { last: [], toResult: () => result }
    },
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

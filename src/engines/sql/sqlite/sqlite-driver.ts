import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import type { SqliteDatabase, SqliteStatement } from 'kysely'

/** Statements are few and used again and again; what is above this is prepared anew. */
const PREPARED_MAX = 256

/** What Kysely expects of SQLite, in terms of the API that Node has built in since 22. */
export class PreparedDatabase implements SqliteDatabase {
  readonly #database: DatabaseSyncInstance
  readonly #prepared = new Map<string, PreparedStatement>()

  constructor(database: DatabaseSyncInstance) {
    this.#database = database
  }

  prepare(text: string): SqliteStatement {
    let statement = this.#prepared.get(text)
    if (statement === undefined) {
      statement = new PreparedStatement(this.#database.prepare(text))
      if (this.#prepared.size >= PREPARED_MAX) this.#prepared.clear()
      this.#prepared.set(text, statement)
    }
    return statement
  }

  close(): void {
    this.#prepared.clear()
    this.#database.close()
  }
}

type Bound = ArgumentsOf<StatementSyncInstance['all']>
type ArgumentsOf<F> = F extends (...args: infer A) => unknown ? A : never

class PreparedStatement implements SqliteStatement {
  readonly reader: boolean
  readonly #statement: StatementSyncInstance

  constructor(statement: StatementSyncInstance) {
    this.#statement = statement
    this.reader = statement.columns().length > 0
  }

  all(parameters: readonly unknown[]): unknown[] {
    return this.#statement.all(...(parameters as Bound))
  }

  run(parameters: readonly unknown[]): {
    changes: number | bigint
    lastInsertRowid: number | bigint
  } {
    return this.#statement.run(...(parameters as Bound))
  }

  iterate(parameters: readonly unknown[]): IterableIterator<unknown> {
    return this.#statement.iterate(...(parameters as Bound))
  }
}

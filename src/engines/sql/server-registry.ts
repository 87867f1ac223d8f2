import { findLawDifferences, writeSharedLaw } from '../../engine/law-differences.ts'
import type { LawSettings } from '../../law/model/settings.ts'
import type { DatabaseClock } from './commit/database-clock.ts'
import type { Connection } from './sql-dialect.ts'
import type { TransactionContext } from './commit/transaction-context.ts'
import type { Transactor } from './commit/transactor.ts'

/** A server that has not been heard of for this long is gone. Each is heard of three times as often. */
const ALIVE_MS = 30_000

export interface ServerRegistryOptions {
  readonly transactor: Transactor
  readonly clock: DatabaseClock
  readonly process: string
  /** What an operator knows this server by. */
  readonly name: string
  readonly settings: LawSettings
}

/** The servers that are alive on this database, and what each of them takes for the law. */
export class ServerRegistry {
  readonly #options: ServerRegistryOptions

  constructor(options: ServerRegistryOptions) {
    this.#options = options
  }

  /** This server is here, and stays for a while. Nobody else writes its row. */
  async sign(): Promise<void> {
    const { transactor, clock, process, name, settings } = this.#options
    await transactor.write(async (db) => {
      const due_at_ms = (await clock.nowMs(db)) + ALIVE_MS
      await db.deleteFrom('holdfast_servers').where('process', '=', process).execute()
      await db
        .insertInto('holdfast_servers')
        .values({ process, name, law: writeSharedLaw(settings), due_at_ms })
        .execute()
    })
  }

  /** Those that decide otherwise than this one: a text for each. */
  async findDifferences({ db, nowMs }: TransactionContext): Promise<string[]> {
    const { process, settings } = this.#options
    const others = await db
      .selectFrom('holdfast_servers')
      .select(['name', 'law'])
      .where('process', '!=', process)
      .where('due_at_ms', '>', nowMs)
      .orderBy('name')
      .execute()
    return others
      .map(({ name, law }) => ({ name, differences: findLawDifferences(law, settings) }))
      .filter(({ differences }) => differences !== '')
      .map(({ name, differences }) => `${name}: ${differences}`)
  }

  async leave(): Promise<void> {
    const { transactor, process } = this.#options
    await transactor.run((db) =>
      db.deleteFrom('holdfast_servers').where('process', '=', process).execute(),
    )
  }
}

/** Those that died without leaving. */
export async function removeDeadServers(db: Connection, nowMs: number): Promise<void> {
  await db.deleteFrom('holdfast_servers').where('due_at_ms', '<', nowMs).execute()
}

import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LockEngine } from '../../src/engine/engine.ts'
import { openSqlEngine, type SqlOptions } from '../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../src/engines/sql/sql-dialect.ts'
import { openSqlite } from '../../src/engines/sql/sqlite/open-sqlite.ts'
import type { EngineFixture, OpenedEngine } from '../../src/testing/engine-suite/engine-fixture.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { histories } from './histories.ts'

/** A database of its own for each test, and how to get rid of it. */
export interface EmptyDatabase {
  open(): Promise<SqlDatabase>
  remove(): Promise<void>
}

export interface SqlFixtureOptions extends SqlOptions {
  readonly name: string
  readonly create: () => Promise<EmptyDatabase>
}

const MEMORY = '/dev/shm'

/** Longer leaps would pass leases before their renewals could reach the database. */
const LEAP_MS = 5_000

/** On a database whose clock is replaced by one that stands still until it is moved. */
export function createSqlFixture({ name, create, ...options }: SqlFixtureOptions): EngineFixture {
  return {
    name,
    histories,
    open: async ({ settings } = {}) => {
      const empty = await create()
      const lives = new SqlLives(empty, { ...options, settings })
      return lives.begin()
    },
  }
}

/** The engines of one test: those that follow one another, and those beside. */
class SqlLives {
  readonly #empty: EmptyDatabase
  readonly #options: SqlOptions
  readonly #clock = new VirtualClock({ nowMs: 1_000_000 })
  readonly #engines = new Map<LockEngine, SqlDatabase>()
  #engine: LockEngine | undefined

  constructor(empty: EmptyDatabase, options: SqlOptions) {
    this.#empty = empty
    this.#options = options
  }

  async begin(): Promise<OpenedEngine> {
    return {
      engine: await this.#begin(),
      clock: this.#clock,
      advance: (ms) => this.#advance(ms),
      reopen: async () => {
        await this.#current.close()
        return this.#begin()
      },
      crash: async () => {
        await this.#engines.get(this.#current)?.close()
        return this.#begin()
      },
      second: () => this.#open(),
      close: () => this.#close(),
    }
  }

  get #current(): LockEngine {
    if (this.#engine === undefined) throw new Error('the engine could not be opened')
    return this.#engine
  }

  async #begin(): Promise<LockEngine> {
    this.#engine = await this.#open()
    return this.#engine
  }

  async #open(): Promise<LockEngine> {
    let database: SqlDatabase | undefined
    const engine = await openSqlEngine(
      async () => {
        database = await this.#empty.open()
        return database
      },
      { ...this.#options, clock: this.#clock, isClockOurs: true },
    )
    if (database !== undefined) this.#engines.set(engine, database)
    return engine
  }

  async #advance(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= LEAP_MS) {
      await this.#clock.advance(Math.min(LEAP_MS, leftMs))
      await this.#current.read({ kind: 'stats' })
    }
  }

  async #close(): Promise<void> {
    for (const [engine, database] of this.#engines) {
      await engine.close().catch(() => {})
      await database.close().catch(() => {})
    }
    await this.#empty.remove()
  }
}

/** A file of its own for each test; in memory where there is a place for that, because it is synced often. */
export async function createSqliteFile(): Promise<EmptyDatabase> {
  const directory = await mkdtemp(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'holdfast-sqlite-'))
  return {
    open: () => openSqlite(join(directory, 'locks.db')),
    remove: () => rm(directory, { recursive: true }),
  }
}

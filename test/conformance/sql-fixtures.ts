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
const LEAPS_MAX = 50

/** On a database whose clock is replaced by one that stands still until it is moved. */
export function createSqlFixture({ name, create, ...options }: SqlFixtureOptions): EngineFixture {
  return {
    name,
    histories,
    patienceMs: 30_000,
    open: async ({ settings } = {}) => {
      const empty = await create()
      // The clock leaps, and nobody could say in time that they still wait.
      const patient = { openPatienceMs: Infinity, ...settings }
      const lives = new SqlLives(empty, { ...options, settings: patient })
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
    const leapMs = Math.max(LEAP_MS, ms / LEAPS_MAX)
    for (let leftMs = ms; leftMs > 0; leftMs -= leapMs) {
      await this.#clock.advance(Math.min(leapMs, leftMs))
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
export async function createSqliteFile(): Promise<EmptyDatabase & { readonly file: string }> {
  const directory = await mkdtemp(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'holdfast-sqlite-'))
  const file = join(directory, 'locks.db')
  return {
    file,
    open: () => openSqlite(file),
    remove: () => rm(directory, { recursive: true }),
  }
}

/** One database for all tests of a file, which each of them leaves empty. */
export class SharedDatabase {
  readonly #open: () => Promise<SqlDatabase>

  constructor(open: () => Promise<SqlDatabase>) {
    this.#open = open
  }

  readonly create = async (): Promise<EmptyDatabase> => ({
    open: this.#open,
    remove: () => this.#empty(),
  })

  async #empty(): Promise<void> {
    const { db, close } = await this.#open()
    for (const table of TABLES) await db.deleteFrom(table).execute()
    await db.updateTable('holdfast_state').set({ floor: 0, watched_until_ms: 0 }).execute()
    await close()
  }
}

const TABLES = [
  'holdfast_keys',
  'holdfast_holds',
  'holdfast_waiters',
  'holdfast_sessions',
  'holdfast_refs',
  'holdfast_successes',
  'holdfast_history',
  'holdfast_events',
  'holdfast_letters',
] as const

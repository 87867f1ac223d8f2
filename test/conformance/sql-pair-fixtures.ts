import { setTimeout as delay } from 'node:timers/promises'
import type { LockEngine } from '../../src/engine/engine.ts'
import { openSqlEngine } from '../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../src/engines/sql/sql-dialect.ts'
import type { LawSettings } from '../../src/law/settings.ts'
import type { EngineFixture, OpenedEngine } from '../../src/testing/engine-suite/engine-fixture.ts'
import { EngineProcess } from '../engine-process/engine-process.ts'
import { LeapingClock } from '../engine-process/leaping-clock.ts'
import { type DatabaseAddress, openDatabase } from '../engine-process/open-database.ts'
import type { ProcessEngine } from '../engine-process/process-engine.ts'
import { histories } from './histories.ts'
import { PairedEngine } from './paired-engine.ts'
import { TimedEngine } from './timed-engine.ts'

/** An empty database for a test, and how to get rid of what the test left. */
export interface PairedDatabase {
  readonly address: DatabaseAddress
  remove(): Promise<void>
}

export interface PairFixtureOptions {
  readonly name: string
  readonly create: () => Promise<PairedDatabase>
  /** The other process. */
  readonly other: OtherProcess
}

/** Time passes in leaps, so that what falls due on the way has its effect before the next one. */
const LEAP_MS_MIN = 10_000
const LEAPS_MAX = 20
/** Far longer than any leap: who waits says so on the virtual clock, and the database hears of it in real time. */
const OPEN_PATIENCE_MS = 365 * 24 * 3_600_000
const START_MS = 1_000_000
/** A letter that is not taken within this was written to a process that is gone. */
const LETTER_MS_MAX = 4_000
const LETTER_POLL_MS = 5

/** Others hear of what happened when they look, and on a busy machine that takes its time. */
const PATIENCE_MS = 60_000

/** Hundreds of hand-offs between the two take as long as these looks. */
const POLL_MS = 5

/** A test that is given up goes on, and would disturb the next one in the same database. */
export const PAIR_TEST_MS_MAX: number = 10 * 60_000

/** The process that the tests of a file share. */
export class OtherProcess {
  #process: Promise<EngineProcess> | undefined

  get(): Promise<EngineProcess> {
    this.#process ??= EngineProcess.start()
    return this.#process
  }

  async stop(): Promise<void> {
    await (await this.#process)?.stop()
  }
}

/**
 * Two processes on one database. Tests wait in one and release in the other, and in the next test it is
 * the other way round.
 */
export function createPairFixture({ name, create, other }: PairFixtureOptions): EngineFixture {
  let tests = 0
  return {
    name,
    histories: { ...histories, rounds: Math.ceil((histories.rounds ?? 1) / 4) },
    patienceMs: PATIENCE_MS,
    open: async ({ settings } = {}) => {
      tests += 1
      const parts = {
        database: await create(),
        process: await other.get(),
        settings: { ...settings, openPatienceMs: OPEN_PATIENCE_MS },
      }
      return new PairLives({ ...parts, waitsHere: tests % 2 === 0 }).begin()
    },
  }
}

interface PairParts {
  readonly database: PairedDatabase
  readonly process: EngineProcess
  readonly settings: Partial<LawSettings>
  /** Whether it is this process in which tests wait. */
  readonly waitsHere: boolean
}

/** An engine here with its connections. */
interface EngineHere {
  readonly engine: LockEngine
  readonly database: SqlDatabase
}

/** The engines of one test. Their clocks are moved together. */
class PairLives {
  readonly #parts: PairParts
  readonly #clock = new LeapingClock(START_MS)
  readonly #here: EngineHere[] = []
  readonly #there: ProcessEngine[] = []
  readonly #undeliverable = new Set<number>()
  #pair: PairedEngine | undefined
  #nowMs = START_MS
  #moving: Promise<void> = Promise.resolve()

  constructor(parts: PairParts) {
    this.#parts = parts
  }

  get #address(): DatabaseAddress {
    return { ...this.#parts.database.address, pollMs: POLL_MS }
  }

  async begin(): Promise<OpenedEngine> {
    return {
      engine: await this.#openPair(),
      clock: { nowMs: () => this.#nowMs },
      advance: async (ms) => {
        this.#moving = this.#move(ms)
        await this.#moving
      },
      reopen: async () => {
        await this.#closeAll()
        return this.#openPair()
      },
      crash: async () => {
        for (const { database } of this.#here.splice(0)) await database.close()
        for (const engine of this.#there.splice(0)) await engine.abandon()
        return this.#openPair()
      },
      second: async () => new TimedEngine(await this.#openThere(), () => this.#moving),
      close: async () => {
        await this.#closeAll()
        await this.#parts.database.remove()
      },
    }
  }

  async #openPair(): Promise<LockEngine> {
    const [here, there] = await Promise.all([this.#openHere(), this.#openThere()])
    const pair = this.#parts.waitsHere
      ? { waiting: here, ending: there }
      : { waiting: there, ending: here }
    this.#pair = new PairedEngine(pair)
    return new TimedEngine(this.#pair, () => this.#moving)
  }

  async #openHere(): Promise<LockEngine> {
    const { settings } = this.#parts
    const database = await openDatabase(this.#address)
    const options = { settings, clock: this.#clock, isClockOurs: true }
    const engine = await openSqlEngine(async () => database, options)
    this.#here.push({ engine, database })
    return engine
  }

  async #openThere(): Promise<ProcessEngine> {
    const { settings, process } = this.#parts
    const virtualNowMs = this.#nowMs
    const engine = await process.open({ database: this.#address, settings, virtualNowMs })
    this.#there.push(engine)
    return engine
  }

  async #move(ms: number): Promise<void> {
    const longestMs = Math.max(LEAP_MS_MIN, Math.ceil(ms / LEAPS_MAX))
    for (let leftMs = ms; leftMs > 0; leftMs -= longestMs) {
      const leapMs = Math.min(longestMs, leftMs)
      await Promise.all([
        this.#moveHere(leapMs),
        ...this.#there.map((engine) => engine.advance(leapMs)),
      ])
      this.#nowMs += leapMs
      await this.#untilLettersTaken()
    }
  }

  /** A grant has to be taken within its time, and letters are looked for in real time. */
  async #untilLettersTaken(): Promise<void> {
    const [here] = this.#here
    const startedAtMs = performance.now()
    while (here !== undefined && this.#pair?.isWaitedIn === true) {
      const letters = await here.database.db.selectFrom('holdfast_letters').select('id').execute()
      const open = letters.filter(({ id }) => !this.#undeliverable.has(id))
      if (open.length === 0) return
      if (performance.now() - startedAtMs > LETTER_MS_MAX) {
        for (const { id } of open) this.#undeliverable.add(id)
      }
      await delay(LETTER_POLL_MS)
    }
  }

  async #moveHere(ms: number): Promise<void> {
    await this.#clock.advance(ms)
    for (const { engine } of this.#here) await engine.read({ kind: 'stats' })
  }

  async #closeAll(): Promise<void> {
    for (const { engine } of this.#here.splice(0)) await engine.close()
    for (const engine of this.#there.splice(0)) await engine.close()
  }
}

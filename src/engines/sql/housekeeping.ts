import { sql } from 'kysely'
import type { OpenWaits } from '../../engine/waits/open-waits.ts'
import { nameOfPlace } from '../../engine/waits/waiting-command.ts'
import type { Clock, Timer } from '../../time/clock.ts'
import type { DatabaseClock } from './commit/database-clock.ts'
import { OldRows } from './schema/old-rows.ts'
import type { AnswersElsewhere } from './notify/answers-elsewhere.ts'
import type { ServerRegistry } from './server-registry.ts'
import type { Connection, KeyName } from './sql-dialect.ts'
import type { Transactor } from './commit/transactor.ts'

/** What is too old is removed this often, in rounds. */
const REMOVAL_EVERY = 6

export interface HousekeepingOptions {
  readonly transactor: Transactor
  readonly databaseClock: DatabaseClock
  readonly clock: Clock
  readonly process: string
  readonly waits: OpenWaits
  readonly elsewhere: AnswersElsewhere
  readonly openLetters: () => Promise<void>
  /** Where this process is a server. */
  readonly servers: ServerRegistry | undefined
  /** How long a waiter keeps its place without a sign of the process that holds its call open. */
  readonly openPatienceMs: number
}

/**
 * What has to be done now and then: say that the waiters of this process still wait, ask again for those
 * of which nothing was heard, and remove what is too old for anyone.
 */
export class Housekeeping {
  readonly #options: HousekeepingOptions
  readonly #everyMs: number
  readonly #oldRows = new OldRows()
  #timer: Timer | undefined
  #running: Promise<void> | undefined
  #isClosed = false
  #rounds = 0

  constructor(options: HousekeepingOptions) {
    this.#options = options
    this.#everyMs = Math.min(10_000, options.openPatienceMs / 3)
  }

  start(): void {
    if (this.#isClosed) return
    this.#timer = this.#options.clock.setTimer(this.#everyMs, () => {
      this.#running ??= this.#round()
        .catch(() => {})
        .finally(() => {
          this.#running = undefined
        })
      this.start()
    })
  }

  async #round(): Promise<void> {
    const { waits, elsewhere, transactor, databaseClock } = this.#options
    if (waits.size > 0) {
      await transactor.write((db) => this.#renewPlaces(db))
      const stillQueued = await transactor.run((db) => this.#stillQueued(db))
      // Whoever left the queue was written to; only those are asked for again whose notification is lost.
      await this.#options.openLetters()
      await elsewhere.askAgain(stillQueued)
    }
    await this.#options.servers?.sign()
    if (this.#rounds % REMOVAL_EVERY === 0) {
      await transactor.run(async (db) => this.#oldRows.remove(db, await databaseClock.nowMs(db)))
    }
    this.#rounds += 1
  }

  /** What others have loaded of these keys is not true any more, and their rows say so. */
  async #renewPlaces(db: Connection): Promise<void> {
    const { databaseClock, process, openPatienceMs } = this.#options
    if (openPatienceMs === Infinity) return
    const untilMs = (await databaseClock.nowMs(db)) + openPatienceMs
    await sql`
      update holdfast_keys set version = version + 1 where id in (
        select key_id from holdfast_waiters where process = ${process} and session is null
      )`.execute(db)
    await sql`
      update holdfast_waiters set
        lease_at_ms = ${untilMs},
        due_at_ms = case when deadline_at_ms < ${untilMs} then deadline_at_ms else ${untilMs} end
      where process = ${process} and session is null`.execute(db)
  }

  async #stillQueued(db: Connection): Promise<Set<string>> {
    const { process } = this.#options
    const { rows } = await sql<KeyName & { owner: string; request_id: string }>`
      select k.space, k.name, w.owner, w.request_id
      from holdfast_waiters w join holdfast_keys k on k.id = w.key_id
      where w.process = ${process}`.execute(db)
    return new Set(
      rows.map(({ space, name, owner, request_id: requestId }) =>
        nameOfPlace({ space, name }, { owner, requestId }),
      ),
    )
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    await this.#running
  }
}

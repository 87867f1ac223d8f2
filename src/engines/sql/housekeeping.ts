import { sql } from 'kysely'
import type { Clock, Timer } from '../../time/clock.ts'
import type { DatabaseClock } from './database-clock.ts'
import { WATCHED_MS } from './event-feed.ts'
import { nameOfDeparture, type OpenWaits } from './open-waits.ts'
import type { KeyName, SqlDatabase } from './sql-dialect.ts'
import { HISTORY_KEPT_MS } from './sql-reads.ts'

/** A letter that nobody fetched for this long was written to a process that is gone. */
const LETTER_KEPT_MS = 10 * 60_000

/** Rows that one statement removes, so that none locks the table for long. */
const REMOVED_AT_ONCE = 1_000

export interface HousekeepingOptions {
  readonly database: SqlDatabase
  readonly databaseClock: DatabaseClock
  readonly clock: Clock
  readonly process: string
  readonly waits: OpenWaits
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
    const { waits } = this.#options
    if (waits.size > 0) {
      await this.#renewPlaces()
      await waits.askAgain(await this.#stillQueued())
    }
    this.#rounds += 1
    if (this.#rounds % 6 === 1) await this.removeOld()
  }

  async #renewPlaces(): Promise<void> {
    const { database, databaseClock, process, openPatienceMs } = this.#options
    const { db } = database
    if (openPatienceMs === Infinity) return
    const untilMs = (await databaseClock.nowMs(db)) + openPatienceMs
    await sql`
      update holdfast_waiters set
        lease_at_ms = ${untilMs},
        due_at_ms = case when deadline_at_ms < ${untilMs} then deadline_at_ms else ${untilMs} end
      where process = ${process} and session is null`.execute(db)
  }

  async #stillQueued(): Promise<Set<string>> {
    const { database, process } = this.#options
    const { rows } = await sql<KeyName & { owner: string; request_id: string }>`
      select k.space, k.name, w.owner, w.request_id
      from holdfast_waiters w join holdfast_keys k on k.id = w.key_id
      where w.process = ${process}`.execute(database.db)
    return new Set(
      rows.map(({ space, name, owner, request_id: requestId }) =>
        nameOfDeparture({ space, name }, { owner, requestId }),
      ),
    )
  }

  /** Returns how many rows were removed. */
  async removeOld(): Promise<number> {
    const { db } = this.#options.database
    const nowMs = await this.#options.databaseClock.nowMs(db)
    const removed = [
      await this.#remove('holdfast_events', 'at_ms', nowMs - WATCHED_MS),
      await this.#remove('holdfast_letters', 'at_ms', nowMs - LETTER_KEPT_MS),
      await this.#remove('holdfast_history', 'to_ms', nowMs - HISTORY_KEPT_MS),
    ]
    return removed.reduce((sum, count) => sum + count, 0)
  }

  async #remove(
    table: 'holdfast_events' | 'holdfast_letters' | 'holdfast_history',
    column: 'at_ms' | 'to_ms',
    beforeMs: number,
  ): Promise<number> {
    const { db } = this.#options.database
    let removed = 0
    for (;;) {
      const { rows } = await sql<{ id: number }>`
        select id from ${sql.table(table)} where ${sql.ref(column)} < ${beforeMs}
        order by id limit ${sql.lit(REMOVED_AT_ONCE)}`.execute(db)
      if (rows.length === 0) return removed
      const ids = rows.map(({ id }) => id)
      await db.deleteFrom(table).where('id', 'in', ids).execute()
      removed += rows.length
      if (rows.length < REMOVED_AT_ONCE) return removed
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    await this.#running
  }
}

import type { Clock } from '../../../time/clock.ts'
import { SystemClock } from '../../../time/system-clock.ts'
import type { DatabaseClock } from '../commit/database-clock.ts'
import type { SqlDialect } from '../sql-dialect.ts'
import { toUnavailable } from '../sql-errors.ts'
import { type Rows, words } from '../statement.ts'
import type { Transactor } from '../commit/transactor.ts'

/** For how long events are written after somebody last said that they watch, and how long they are kept. */
export const WATCHED_MS = 60_000

/** A transaction that has been under way for longer is stuck, and nobody can watch. */
const UNDER_WAY_MS_MAX = 10_000
const POLL_MS = 10

/** Whether events are to be written, by what was read of the row; nothing was while somebody is about to write it. */
export function isWatchedBy(rows: Rows | undefined, nowMs: number): boolean {
  const watchedUntilMs = rows?.[0]?.['watched']
  return typeof watchedUntilMs !== 'number' || watchedUntilMs > nowMs
}

export interface WatchNoticeOptions {
  readonly dialect: SqlDialect
  readonly transactor: Transactor
  /** The clock that decides until when somebody watches. */
  readonly clock: DatabaseClock
}

/** Says to every process that somebody watches, so that they write down what happens. */
export class WatchNotice {
  readonly #options: WatchNoticeOptions
  readonly #timers: Clock = new SystemClock()

  constructor(options: WatchNoticeOptions) {
    this.#options = options
  }

  /**
   * A watch begins when every transaction is over that may not have known of it: whatever commits later
   * is written down. Returns the number of the last event that is known to be from before.
   */
  async begin(): Promise<number> {
    // Whoever begins after this has higher numbers, and whoever began before is waited for.
    const last = await this.#lastNumber()
    await this.renew()
    await this.#untilAllKnow()
    return last
  }

  async renew(): Promise<void> {
    const { dialect, transactor, clock } = this.#options
    await transactor.write(async (db) => {
      const untilMs = (await clock.nowMs(db)) + WATCHED_MS
      await db
        .updateTable('holdfast_state')
        .set({ watched_until_ms: untilMs })
        .where('id', '=', dialect.watch.row)
        .where('watched_until_ms', '<', untilMs)
        .execute()
    })
  }

  async #lastNumber(): Promise<number> {
    const row = await this.#options.transactor.run((db) =>
      db
        .selectFrom('holdfast_events')
        .select((eb) => eb.fn.max<number | null>('id').as('last'))
        .executeTakeFirstOrThrow(),
    )
    return Number(row.last ?? 0)
  }

  async #untilAllKnow(): Promise<void> {
    const startedAtMs = this.#timers.nowMs()
    let waitedFor = await this.#findUnderWay()
    while (waitedFor.size > 0) {
      if (this.#timers.nowMs() - startedAtMs > UNDER_WAY_MS_MAX) {
        throw toUnavailable(new Error('a transaction is stuck that was begun before'), 'no')
      }
      await new Promise<void>((resolve) => {
        this.#timers.setTimer(POLL_MS, resolve).ref()
      })
      const present = await this.#findUnderWay()
      waitedFor = new Set([...waitedFor].filter((name) => present.has(name)))
    }
  }

  async #findUnderWay(): Promise<Set<string>> {
    const { dialect, transactor } = this.#options
    const { underWay } = dialect.watch
    if (underWay === undefined) return new Set()
    const [found] = await transactor.run((db) => dialect.run(db, [words(underWay)]))
    return new Set((found ?? []).map(({ name }) => String(name)))
  }
}

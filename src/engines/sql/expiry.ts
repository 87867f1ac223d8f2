import { sql } from 'kysely'
import type { KeyCommand } from '../../law/commands.ts'
import type { Outcome } from '../../law/outcomes.ts'
import type { Clock, Timer } from '../../time/clock.ts'
import type { DatabaseClock } from './database-clock.ts'
import type { SessionBook } from './session-book.ts'
import type { Connection, KeyName } from './sql-dialect.ts'
import type { Transactor } from './transactor.ts'

/** Keys that are looked at in one go. */
const SWEEP_MAX = 200

/** However little is due, others may have died who would have seen to theirs. */
const LOOK_MS = 1_000

export interface ExpiryOptions {
  readonly transactor: Transactor
  readonly databaseClock: DatabaseClock
  readonly clock: Clock
  readonly sessions: SessionBook
  readonly decide: (name: KeyName, command: KeyCommand) => Promise<Outcome>
}

const EXPIRE = Object.freeze({ kind: 'expire' })

/**
 * Sees to it that what is due ends without anyone asking: in time for what this process knows of, and
 * every second for whatever others left behind.
 */
export class Expiry {
  readonly #options: ExpiryOptions
  #timer: Timer | undefined
  #timerAtMs = Infinity
  #sweeping: Promise<number> | undefined
  #isClosed = false

  constructor(options: ExpiryOptions) {
    this.#options = options
  }

  start(): void {
    this.#setTimer(LOOK_MS)
  }

  /** A transaction has seen the clock of the database, and when something is due. */
  note(nowMs: number, dueAtMs: number): void {
    if (dueAtMs === Infinity) return
    this.#setTimer(Math.max(1, Math.ceil(dueAtMs - nowMs)))
  }

  /** End everything that is due now. Returns how many holds and waiters that were. */
  async sweep(): Promise<number> {
    let count = 0
    for (;;) {
      const due = await this.#options.transactor.run((db) => this.#findDue(db))
      for (const id of due.sessions) count += await this.#options.sessions.end(id)
      const outcomes = await Promise.all(due.keys.map((name) => this.#options.decide(name, EXPIRE)))
      for (const one of outcomes) if (one.kind === 'swept') count += one.count
      if (due.keys.length < SWEEP_MAX) {
        if (due.nextAtMs !== null) this.note(due.nowMs, due.nextAtMs)
        return count
      }
    }
  }

  async #findDue(db: Connection): Promise<{
    readonly nowMs: number
    readonly sessions: readonly string[]
    readonly keys: readonly KeyName[]
    readonly nextAtMs: number | null
  }> {
    const nowMs = await this.#options.databaseClock.nowMs(db)
    const sessions = await sql<{ id: string }>`
      select id from holdfast_sessions where due_at_ms <= ${nowMs} or ended = 1`.execute(db)
    const keys = await sql<KeyName>`
      select space, name from holdfast_keys where due_at_ms <= ${nowMs}
      order by due_at_ms limit ${sql.lit(SWEEP_MAX)}`.execute(db)
    const next = await sql<{ next: number | null }>`
      select min(due) as next from (
        select min(due_at_ms) as due from holdfast_keys where due_at_ms > ${nowMs}
        union all select min(due_at_ms) as due from holdfast_sessions where due_at_ms > ${nowMs}
      ) soonest`.execute(db)
    const nextAtMs = next.rows[0]?.next ?? null
    return {
      nowMs,
      sessions: sessions.rows.map(({ id }) => id),
      keys: keys.rows,
      nextAtMs: nextAtMs === null ? null : Number(nextAtMs),
    }
  }

  #setTimer(delayMs: number): void {
    if (this.#isClosed) return
    const { clock } = this.#options
    const atMs = clock.nowMs() + Math.min(delayMs, LOOK_MS)
    if (this.#timer !== undefined && this.#timerAtMs <= atMs) return
    this.#timer?.cancel()
    this.#timerAtMs = atMs
    this.#timer = clock.setTimer(atMs - clock.nowMs(), () => this.#onTimer())
  }

  #onTimer(): void {
    this.#timer = undefined
    this.#setTimer(LOOK_MS)
    if (this.#sweeping !== undefined) return
    // What could not be done now is tried again within a second.
    this.#sweeping = this.sweep()
      .catch(() => 0)
      .finally(() => {
        this.#sweeping = undefined
      })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    await this.#sweeping
  }
}

import { sql } from 'kysely'
import type { KeyCommand } from '../../law/model/commands.ts'
import type { Outcome } from '../../law/model/outcomes.ts'
import type { Clock, Timer } from '../../time/clock.ts'
import type { DatabaseClock } from './commit/database-clock.ts'
import type { SessionRegistry } from './session-registry.ts'
import type { Connection, KeyName, SqlDialect } from './sql-dialect.ts'
import type { Transactor } from './commit/transactor.ts'

/** Keys that are looked at in one go. */
const SWEEP_MAX = 200

/** However little is due, others may have died who would have seen to theirs. */
const LOOK_MS = 1_000

export interface ExpiryOptions {
  readonly dialect: SqlDialect
  readonly transactor: Transactor
  readonly databaseClock: DatabaseClock
  readonly clock: Clock
  readonly sessions: SessionRegistry
  readonly decide: (name: KeyName, command: KeyCommand) => Promise<Outcome>
}

interface SweepOptions {
  /** Whether keys that somebody is at are left to them. */
  readonly leavesLocked: boolean
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
  sweep(): Promise<number> {
    return this.#sweep({ leavesLocked: false })
  }

  /**
   * Where nobody asked, a key that somebody is at is left to them: whoever decides on a key ends what is
   * due there first. If they die, its row is free again for the next look.
   */
  async #sweep(options: SweepOptions): Promise<number> {
    let count = 0
    for (;;) {
      const due = await this.#options.transactor.run((db) => this.#findDue(db, options))
      for (const id of due.sessions) count += await this.#options.sessions.settle(id)
      const outcomes = await Promise.all(due.keys.map((name) => this.#options.decide(name, EXPIRE)))
      for (const one of outcomes) if (one.kind === 'swept') count += one.count
      if (due.keys.length < SWEEP_MAX) {
        if (due.nextAtMs !== null) this.note(due.nowMs, due.nextAtMs)
        return count
      }
    }
  }

  async #findDue(
    db: Connection,
    { leavesLocked }: SweepOptions,
  ): Promise<{
    readonly nowMs: number
    readonly sessions: readonly string[]
    readonly keys: readonly KeyName[]
    readonly nextAtMs: number | null
  }> {
    const nowMs = await this.#options.databaseClock.nowMs(db)
    const sessions = await sql<{ id: string }>`
      select id from holdfast_sessions where due_at_ms <= ${nowMs} or ended = 1`.execute(db)
    let keys = await selectDue(db, nowMs)
    if (leavesLocked && keys.length > 0) {
      keys = await selectDue(db, nowMs, this.#options.dialect.skipLocked)
    }
    const next = await sql<{ next: number | null }>`
      select min(due) as next from (
        select min(due_at_ms) as due from holdfast_keys where due_at_ms > ${nowMs}
        union all select min(due_at_ms) as due from holdfast_sessions where due_at_ms > ${nowMs}
      ) soonest`.execute(db)
    const nextAtMs = next.rows[0]?.next ?? null
    return {
      nowMs,
      sessions: sessions.rows.map(({ id }) => id),
      keys,
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
    this.#sweeping = this.#sweep({ leavesLocked: true })
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

async function selectDue(db: Connection, nowMs: number, locking = ''): Promise<KeyName[]> {
  const { rows } = await sql<KeyName>`
    select space, name from holdfast_keys where due_at_ms <= ${nowMs}
    order by due_at_ms limit ${sql.lit(SWEEP_MAX)} ${sql.raw(locking)}`.execute(db)
  return rows
}

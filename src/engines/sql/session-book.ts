import { type Selectable, sql } from 'kysely'
import type { SessionCommand } from '../../law/commands.ts'
import type { KeyCommand } from '../../law/commands.ts'
import type { Outcome } from '../../law/outcomes.ts'
import { decideSession } from '../../law/sessions.ts'
import type { DatabaseClock } from './database-clock.ts'
import { toSession, toSessionRow } from './row-codec.ts'
import type { SessionTable } from './schema.ts'
import type { Connection, KeyName, SqlDatabase } from './sql-dialect.ts'
import type { Transactor } from './transactor.ts'

export interface SessionBookOptions {
  readonly database: SqlDatabase
  readonly transactor: Transactor
  readonly clock: DatabaseClock
  readonly decide: (name: KeyName, command: KeyCommand) => Promise<Outcome>
}

/** What a transaction on a session found: an answer, or that the session has to be ended first. */
type Standing = Outcome | 'over'

/** Sessions: who was heard of when, and the end of what those had that fell silent. */
export class SessionBook {
  readonly #options: SessionBookOptions

  constructor(options: SessionBookOptions) {
    this.#options = options
  }

  async apply(command: SessionCommand): Promise<Outcome> {
    for (;;) {
      const standing = await this.#decide(command)
      if (standing !== 'over') return this.#finish(command, standing)
      await this.end(command.session)
    }
  }

  async #finish(command: SessionCommand, outcome: Outcome): Promise<Outcome> {
    if (outcome.kind !== 'session-closed') return outcome
    return { kind: 'session-closed', ended: await this.end(command.session) }
  }

  async #decide(command: SessionCommand): Promise<Standing> {
    const { database, transactor, clock } = this.#options
    return transactor.write(async (db) => {
      const row = await this.#lock(db, command.session)
      const nowMs = await clock.nowMs(db)
      if (row !== undefined && (row.ended === 1 || row.due_at_ms <= nowMs)) return 'over'
      const known = row === undefined ? undefined : toSession(row)
      const { session, outcome } = decideSession(known, command, nowMs)
      if (session === null) await markEnded(db, command.session)
      else if (session !== undefined) {
        const rows = [toSessionRow(session)]
        await database.dialect.upsert('holdfast_sessions', { by: ['id'], rows }).execute(db)
      }
      return outcome
    })
  }

  async #lock(db: Connection, id: string): Promise<Selectable<SessionTable> | undefined> {
    const { dialect } = this.#options.database
    const { rows } = await sql<Selectable<SessionTable>>`
      select * from holdfast_sessions where id = ${id} ${dialect.forUpdate}`.execute(db)
    return rows[0]
  }

  /**
   * End a session and, key by key, what it had. It is marked first, so that nothing new begins in its name,
   * and removed last, so that whoever comes after a crash goes on with it. Returns how many holds and
   * waiters ended.
   */
  async end(id: string): Promise<number> {
    const { transactor, decide } = this.#options
    await transactor.write((db) => markEnded(db, id))
    const names = await this.#keysOf(id)
    const outcomes = await Promise.all(
      names.map((name) => decide(name, { kind: 'leave', session: id })),
    )
    await transactor.run((db) =>
      db.deleteFrom('holdfast_sessions').where('id', '=', id).where('ended', '=', 1).execute(),
    )
    return outcomes.reduce((sum, one) => sum + (one.kind === 'swept' ? one.count : 0), 0)
  }

  async #keysOf(session: string): Promise<KeyName[]> {
    const { rows } = await this.#options.transactor.run((db) =>
      sql<KeyName>`
        select space, name from holdfast_keys where id in (
          select key_id from holdfast_holds where session = ${session}
          union select key_id from holdfast_waiters where session = ${session}
        )`.execute(db),
    )
    return rows
  }
}

async function markEnded(db: Connection, id: string): Promise<void> {
  await db.updateTable('holdfast_sessions').set({ ended: 1 }).where('id', '=', id).execute()
}

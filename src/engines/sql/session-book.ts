import { type Selectable, sql } from 'kysely'
import type { SessionCommand } from '../../law/commands.ts'
import type { KeyCommand } from '../../law/commands.ts'
import type { Outcome } from '../../law/outcomes.ts'
import type { Session } from '../../law/view.ts'
import { decideSession } from '../../law/sessions.ts'
import type { DatabaseClock } from './database-clock.ts'
import { toSession, toSessionRow } from './row-codec.ts'
import type { SessionTable } from './schema.ts'
import type { KeyName, SqlDatabase } from './sql-dialect.ts'
import { type Statement, statement, words } from './statement.ts'
import type { Closing, Transactor } from './transactor.ts'

export interface SessionBookOptions {
  readonly database: SqlDatabase
  readonly transactor: Transactor
  readonly clock: DatabaseClock
  readonly decide: (name: KeyName, command: KeyCommand) => Promise<Outcome>
}

/** What a transaction on a session found: an answer, or that the session has to be ended first. */
type Standing = Outcome | 'over'

const OVER: Closing<Standing> = { last: [], toResult: () => 'over' }

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
    const { session: id } = command
    const lock = words(database.dialect.forUpdate)
    return transactor.writeScript<Standing>({
      first: [statement`select * from holdfast_sessions where id = ${id} ${lock}`, clock.select],
      work: async (_db, [found, now]) => {
        const [row] = (found ?? []) as unknown as Selectable<SessionTable>[]
        const nowMs = clock.toNowMs(now)
        if (row !== undefined && (row.ended === 1 || row.due_at_ms <= nowMs)) return OVER
        const known = row === undefined ? undefined : toSession(row)
        const { session, outcome } = decideSession(known, command, nowMs)
        return { last: this.#write(id, session), toResult: () => outcome }
      },
    })
  }

  #write(id: string, session: Session | null | undefined): Statement[] {
    if (session === undefined) return []
    if (session === null) return [markEnded(id)]
    const put = { by: ['id'], rows: [toSessionRow(session)] }
    return [this.#options.database.dialect.upsert('holdfast_sessions', put)]
  }

  /**
   * End a session and, key by key, what it had. It is marked first, so that nothing new begins in its name,
   * and removed last, so that whoever comes after a crash goes on with it. Returns how many holds and
   * waiters ended.
   */
  async end(id: string): Promise<number> {
    const { transactor, decide } = this.#options
    const closing = { last: [markEnded(id)], toResult: () => {} }
    await transactor.writeScript({ first: [], work: async () => closing })
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

function markEnded(id: string): Statement {
  return statement`update holdfast_sessions set ended = 1 where id = ${id}`
}

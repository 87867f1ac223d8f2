import { type Selectable, sql } from 'kysely'
import type { SessionCommand } from '../../law/model/commands.ts'
import type { KeyCommand } from '../../law/model/commands.ts'
import type { Outcome } from '../../law/model/outcomes.ts'
import type { Session } from '../../law/model/view.ts'
import { decideSession } from '../../law/sessions.ts'
import type { DatabaseClock } from './commit/database-clock.ts'
import { findLastLease } from './snapshot/key-parts.ts'
import { toSession, toSessionRow } from './snapshot/row-codec.ts'
import type { SessionTable } from './schema/schema.ts'
import type { Connection, KeyName, SqlDatabase } from './sql-dialect.ts'
import { type Statement, statement, words } from './statement.ts'
import type { Closing, Transactor } from './commit/transactor.ts'

export interface SessionRegistryOptions {
  readonly database: SqlDatabase
  readonly transactor: Transactor
  readonly clock: DatabaseClock
  readonly decide: (name: KeyName, command: KeyCommand) => Promise<Outcome>
}

type SessionRow = Selectable<SessionTable>

/** What a transaction has found that locked the row of a session. */
interface Found {
  readonly row: SessionRow | undefined
  readonly nowMs: number
  readonly db: Connection
}

/** An answer, or that the session has to be settled first. */
type Standing = Outcome | 'due'

/** Sessions: when each client was heard, and the end of what a silent one loses. */
export class SessionRegistry {
  readonly #options: SessionRegistryOptions

  constructor(options: SessionRegistryOptions) {
    this.#options = options
  }

  async apply(command: SessionCommand): Promise<Outcome> {
    for (;;) {
      const standing = await this.#decide(command)
      if (standing === 'due') await this.settle(command.session)
      else if (standing.kind !== 'session-closed') return standing
      else return { kind: 'session-closed', ended: await this.#end(command.session) }
    }
  }

  /**
   * See to a session that is due: its client was silent for the grace, its last lease has run out since, or
   * the process died that was ending it. The session stays for as long as it keeps holds. Returns how many
   * holds and waiters ended.
   */
  async settle(id: string): Promise<number> {
    const left = await this.#leave(id, await this.#keysWaitedFor(id))
    return (await this.#isOver(id)) ? left + (await this.#end(id)) : left
  }

  #decide(command: SessionCommand): Promise<Standing> {
    const { session: id } = command
    return this.#writeLocked<Standing>(id, async ({ row, nowMs }) => {
      if (row !== undefined && isDue(row, nowMs)) return { last: [], toResult: () => 'due' }
      const known = row === undefined ? undefined : toSession(row)
      const { session, outcome } = decideSession(known, command, nowMs)
      return { last: this.#write(id, session), toResult: () => outcome }
    })
  }

  /** Whether nothing keeps the session; then it is marked as ended. Otherwise it is due when its last lease ends. */
  #isOver(id: string): Promise<boolean> {
    return this.#writeLocked<boolean>(id, async ({ row, nowMs, db }) => {
      if (row === undefined || !isDue(row, nowMs)) return { last: [], toResult: () => false }
      const dueAtMs = row.ended === 1 ? nowMs : await findLastLease(db, toSession(row))
      const isOver = dueAtMs <= nowMs
      const change = isOver ? markEnded(id) : setDue(id, dueAtMs)
      return { last: [change], toResult: () => isOver }
    })
  }

  #writeLocked<T>(id: string, work: (found: Found) => Promise<Closing<T>>): Promise<T> {
    const { database, transactor, clock } = this.#options
    const lock = words(database.dialect.forUpdate)
    return transactor.writeScript<T>({
      first: [statement`select * from holdfast_sessions where id = ${id} ${lock}`, clock.select],
      work: (db, [found, now]) => {
        const [row] = (found ?? []) as unknown as SessionRow[]
        return work({ row, nowMs: clock.toNowMs(now), db })
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
   * End, key by key, what a session had that is marked as ended: nothing new begins in its name any more. The
   * row is removed last, so that the next sweep finishes what a crash left behind.
   */
  async #end(id: string): Promise<number> {
    const ended = await this.#leave(id, await this.#keysOf(id))
    await this.#options.transactor.run((db) =>
      db.deleteFrom('holdfast_sessions').where('id', '=', id).where('ended', '=', 1).execute(),
    )
    return ended
  }

  async #leave(session: string, names: readonly KeyName[]): Promise<number> {
    const { decide } = this.#options
    const outcomes = await Promise.all(
      names.map((name) => decide(name, { kind: 'leave', session })),
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

  async #keysWaitedFor(session: string): Promise<KeyName[]> {
    const { rows } = await this.#options.transactor.run((db) =>
      sql<KeyName>`
        select space, name from holdfast_keys where id in (
          select key_id from holdfast_waiters where session = ${session}
        )`.execute(db),
    )
    return rows
  }
}

function isDue({ ended, due_at_ms: dueAtMs }: SessionRow, nowMs: number): boolean {
  return ended === 1 || dueAtMs <= nowMs
}

function setDue(id: string, dueAtMs: number): Statement {
  return statement`update holdfast_sessions set due_at_ms = ${dueAtMs} where id = ${id}`
}

function markEnded(id: string): Statement {
  return statement`update holdfast_sessions set ended = 1 where id = ${id}`
}

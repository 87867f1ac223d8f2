import { sql } from 'kysely'
import { expect } from 'vitest'
import type { Connection, SqlDatabase } from '../../../../src/engines/sql/sql-dialect.ts'

/** MariaDB shows the same picture again to whoever asks more often than every 100 ms. */
const POLL_MS = 150

/** On the clock of the database. */
export async function readNowMs({ dialect }: SqlDatabase, db: Connection): Promise<number> {
  const { rows } = await sql<{ now: number }>`select ${sql.raw(dialect.nowMs)} as now`.execute(db)
  return rows[0]?.now ?? Number.NaN
}

/** Resolves when this many sessions of the database wait for somebody else's lock. */
export async function waitUntilBlocked({ db, dialect }: SqlDatabase, count: number): Promise<void> {
  const waiting =
    dialect.name === 'postgres'
      ? sql`select pid from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`
      : sql`select trx_id from information_schema.innodb_trx
            join information_schema.processlist on id = trx_mysql_thread_id
            where db = database() and trx_state = 'LOCK WAIT'`
  const isWaiting = async (): Promise<number> => (await waiting.execute(db)).rows.length
  await expect.poll(isWaiting, { interval: POLL_MS }).toBe(count)
}

/** Waits until it is opened. */
export interface Gate {
  readonly opened: Promise<void>
  open(): void
}

export function createGate(): Gate {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** One transaction that is not tried again, with the error of the driver. */
export async function transact<T>(
  { db, dialect }: SqlDatabase,
  work: (db: Connection) => Promise<T>,
): Promise<T> {
  return db.connection().execute(async (connection) => {
    for (const one of dialect.begin) await sql.raw(one).execute(connection)
    try {
      const result = await work(connection)
      await sql`commit`.execute(connection)
      return result
    } catch (error) {
      await sql`rollback`.execute(connection).catch(() => {})
      throw error
    }
  })
}

export interface HeldTransaction {
  /** Commits, and resolves when that is done. */
  close(): Promise<void>
}

/** A transaction that stays open once `work` is done. */
export async function holdOpen(
  database: SqlDatabase,
  work: (db: Connection) => Promise<unknown>,
): Promise<HeldTransaction> {
  const ready = createGate()
  const done = createGate()
  const ended = transact(database, async (db) => {
    await work(db)
    ready.open()
    await done.opened
  })
  await Promise.race([ready.opened, ended])
  return {
    close: () => {
      done.open()
      return ended
    },
  }
}

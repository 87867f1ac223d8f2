import { sql } from 'kysely'
import type { Connection } from '../sql-dialect.ts'

/** Locks of this kind are of the whole server; those of other databases wait a moment. */
const NAME = 'holdfast_migrations'
const WAIT_S_MAX = 60

/** One process at a time changes the tables. A transaction cannot see to that: such a change ends it. */
export async function withSchemaLock<T>(
  connection: Connection,
  work: () => Promise<T>,
): Promise<T> {
  const { rows } = await sql<{
    taken: number | null
  }>`select get_lock(${NAME}, ${WAIT_S_MAX}) as taken`.execute(connection)
  if (rows[0]?.taken !== 1)
    throw new Error(
      `another process has been changing the tables for ${WAIT_S_MAX} s, or was stopped doing it`,
    )
  try {
    return await work()
  } finally {
    // Without the connection the lock is gone as well.
    await sql`select release_lock(${NAME})`.execute(connection).catch(() => {})
  }
}

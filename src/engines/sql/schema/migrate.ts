import { type Kysely, sql } from 'kysely'
import { type Migration, MIGRATIONS } from './migrations.ts'
import type { SqlSchema } from './schema.ts'
import type { Connection, SqlDatabase, SqlDialect } from '../sql-dialect.ts'

/** Steps, and the table that says which of them were done. */
export interface MigrationRegistry {
  readonly table: string
  readonly migrations: readonly Migration[]
}

const ENGINE_BOOK: MigrationRegistry = { table: 'holdfast_migrations', migrations: MIGRATIONS }

/**
 * Bring the tables to the present version. However many processes start at the same time, each step runs
 * once: they wait for each other. A database from a newer version is left alone and refused.
 */
export async function migrate(
  { db, dialect }: SqlDatabase,
  { table, migrations }: MigrationRegistry = ENGINE_BOOK,
): Promise<void> {
  const last = lastOf(migrations)
  if ((await newestVersion(db, table)) === last) return
  await dialect.exclusively(db, async (connection) => {
    const { types } = dialect
    await run(
      connection,
      `create table if not exists ${table} (
        version ${types.integer} not null primary key,
        name ${types.text} not null,
        at_ms ${types.integer} not null
      )${types.tableOptions}`,
    )
    const version = (await newestVersion(connection, table)) ?? 0
    if (version > last) throw new NewerSchemaError(version, last)
    for (const { version: next, name, statements } of migrations) {
      if (next <= version) continue
      for (const statement of statements(dialect)) await step(connection, dialect, statement)
      await sql`insert into ${sql.table(table)} (version, name, at_ms)
        values (${next}, ${name}, ${sql.raw(dialect.nowMs)})`.execute(connection)
    }
  })
}

/** Where a migration may have been killed half way, what it did is not done again. */
async function step(db: Connection, dialect: SqlDialect, statement: string): Promise<void> {
  try {
    await run(db, statement)
  } catch (error) {
    if (dialect.isDoneBefore?.(error) !== true) throw error
  }
}

async function run(db: Connection, statement: string): Promise<void> {
  await sql.raw(statement).execute(db)
}

function lastOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0
}

/** `undefined` where nothing was ever migrated. */
async function newestVersion(db: Kysely<SqlSchema>, table: string): Promise<number | undefined> {
  try {
    const { rows } = await sql<{ version: number | null }>`
      select max(version) as version from ${sql.table(table)}`.execute(db)
    return rows[0]?.version === null ? undefined : Number(rows[0]?.version)
  } catch {
    // There is no such table yet; anything else that is wrong shows itself in the next statement.
    return undefined
  }
}

/** The tables were made by a version of Holdfast that is newer than this one. */
export class NewerSchemaError extends Error {
  constructor(found: number, known: number) {
    super(
      `the tables are of schema version ${found}, and this version of Holdfast knows up to ${known}; ` +
        'use a newer Holdfast, or another database or schema',
    )
  }
}

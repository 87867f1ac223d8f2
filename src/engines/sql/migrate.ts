import { type Kysely, sql } from 'kysely'
import { type Migration, MIGRATIONS } from './migrations.ts'
import type { SqlSchema } from './schema.ts'
import type { Connection, SqlDatabase, SqlDialect } from './sql-dialect.ts'

/**
 * Bring the tables to the present version. However many processes start at the same time, each step runs
 * once: they wait for each other. A database from a newer version is left alone and refused.
 */
export async function migrate({ db, dialect }: SqlDatabase): Promise<void> {
  if ((await newestVersion(db)) === lastOf(MIGRATIONS)) return
  await dialect.exclusively(db, async (connection) => {
    const { types } = dialect
    await run(
      connection,
      `create table if not exists holdfast_migrations (
        version ${types.integer} not null primary key,
        name ${types.text} not null,
        at_ms ${types.integer} not null
      )${types.tableOptions}`,
    )
    const version = (await newestVersion(connection)) ?? 0
    if (version > lastOf(MIGRATIONS)) throw new NewerSchemaError(version, lastOf(MIGRATIONS))
    for (const migration of MIGRATIONS.filter((one) => one.version > version)) {
      for (const statement of migration.statements(types))
        await step(connection, dialect, statement)
      await note(connection, dialect.nowMs, migration)
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

async function note(
  db: Connection,
  nowMs: ReturnType<typeof sql<number>>,
  { version, name }: Migration,
): Promise<void> {
  await db.insertInto('holdfast_migrations').values({ version, name, at_ms: nowMs }).execute()
}

function lastOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0
}

/** `undefined` where nothing was ever migrated. */
async function newestVersion(db: Kysely<SqlSchema>): Promise<number | undefined> {
  try {
    const row = await db
      .selectFrom('holdfast_migrations')
      .select((eb) => eb.fn.max('version').as('version'))
      .executeTakeFirst()
    return row?.version === null || row === undefined ? undefined : Number(row.version)
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

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { migrate, NewerSchemaError } from '../../../../src/engines/sql/schema/migrate.ts'
import { openSqlEngine } from '../../../../src/engines/sql/open-sql-engine.ts'
import { MIGRATIONS } from '../../../../src/engines/sql/schema/migrations.ts'
import type { SqlDatabase } from '../../../../src/engines/sql/sql-dialect.ts'
import { MYSQL, POSTGRES, type ServerKind, SQLITE } from '../test-servers.ts'
import { useServer } from '../use-server.ts'

const PROGRAM = fileURLToPath(new URL('migrate-process.ts', import.meta.url))
const START_MS_MAX = 60_000
const VERSIONS = MIGRATIONS.map(({ version }) => version)

describe.each([SQLITE, POSTGRES, MYSQL])('tables in $name', (kind) => {
  const server = useServer(kind)
  let where: string

  async function open(): Promise<SqlDatabase> {
    return server.closing(await kind.open(where))
  }

  it('are made once although eight start at the same time', async () => {
    where = await server.create()
    await Promise.all(Array.from({ length: 8 }, async () => migrate(await open())))
    const database = await open()
    expect(await listVersions(database)).toEqual(VERSIONS)
    expect(await countStates(database)).toBe(kind === MYSQL ? 2 : 1)
  })

  it(
    'are made once although two processes start at the same time',
    async () => {
      where = await server.create()
      const children = await Promise.all([1, 2].map(() => spawn(kind, where)))
      const codes = await Promise.all(
        children.map(async (child) => {
          const ended = once(child, 'exit')
          child.send('go')
          return (await ended)[0] as number
        }),
      )
      expect(codes).toEqual([0, 0])
      const database = await open()
      expect(await listVersions(database)).toEqual(VERSIONS)
      expect(await countStates(database)).toBe(kind === MYSQL ? 2 : 1)
    },
    START_MS_MAX,
  )

  it('are left as they are once they are made', async () => {
    where = await server.create()
    const database = await open()
    await migrate(database)
    await database.db.updateTable('holdfast_state').set({ floor: 7 }).execute()
    await migrate(database)
    const { floor } = await database.db
      .selectFrom('holdfast_state')
      .selectAll()
      .executeTakeFirstOrThrow()
    expect(floor).toBe(7)
  })

  it('of a newer version are refused', async () => {
    where = await server.create()
    const database = await open()
    await migrate(database)
    const newer = { version: 1 + Math.max(...VERSIONS), name: 'unheard of', at_ms: 0 }
    await database.db.insertInto('holdfast_migrations').values(newer).execute()
    await expect(migrate(await open())).rejects.toThrow(NewerSchemaError)
    await expect(openSqlEngine(() => kind.open(where))).rejects.toMatchObject({
      code: 'LOCK_STORAGE_NEWER',
      message: expect.stringMatching(/^the tables are of schema version/),
      applied: 'no',
    })
  })

  it('of version 4 lose the ends that they remember, and nothing else', async () => {
    where = await server.create()
    const database = await open()
    const before = MIGRATIONS.filter(({ version }) => version <= 4)
    await migrate(database, { table: 'holdfast_migrations', migrations: before })
    await database.db.insertInto('holdfast_keys').values(IN_THE_OLD_FORM).execute()
    const engine = server.closing(await openSqlEngine(() => kind.open(where)))
    expect(await listKeys(database)).toMatchObject([{ name: 'k', token: 7, ended_count: 0 }])
    expect(await engine.apply(ACQUIRE)).toMatchObject({ kind: 'granted', token: 8 })
  })

  it.each([
    [1, 1],
    [1, 5],
    [1, Infinity],
    [6, 1],
    [6, 2],
    [6, Infinity],
  ])(
    'of version %d are made by the next one where one stopped after %d statements',
    async (version, count) => {
      where = await server.create()
      const database = await open()
      const { db, dialect } = database
      const before = MIGRATIONS.filter((one) => one.version < version)
      if (before.length > 0)
        await migrate(database, { table: 'holdfast_migrations', migrations: before })
      const stopped = dialect.exclusively(db, async (connection) => {
        const statements =
          MIGRATIONS.find((one) => one.version === version)?.statements(dialect) ?? []
        for (const statement of statements.slice(0, count))
          await sql.raw(statement).execute(connection)
        throw new Error('stopped half way')
      })
      await expect(stopped).rejects.toThrow('stopped half way')
      await migrate(database)
      expect(await listVersions(database)).toEqual(VERSIONS)
      expect(await countStates(database)).toBe(kind === MYSQL ? 2 : 1)
    },
  )
})

/** Before schema version 5, ends had the names of their fields. */
const IN_THE_OLD_FORM = {
  space: 'lock',
  name: 'k',
  version: 1,
  token: 7,
  holds: 0,
  waiters: 0,
  refs: 0,
  successes: 0,
  writer: null,
  next_place: 1,
  passes: null,
  ended: JSON.stringify([
    {
      verb: 'acquire',
      owner: 'a',
      requestId: '1',
      mode: 'write',
      atMs: 1,
      answer: { kind: 'hold-ended', end: 'released' },
    },
  ]),
  ended_count: 1,
  ended_until_ms: 9_000_000_000_000,
  due_at_ms: null,
} as const

const ACQUIRE = { kind: 'acquire', key: 'k', owner: 'a', requestId: '1' } as const

async function listKeys({ db }: SqlDatabase) {
  return db.selectFrom('holdfast_keys').selectAll().execute()
}

async function spawn(kind: ServerKind, where: string): Promise<ChildProcess> {
  const child = fork(PROGRAM, [kind.name, where], { execArgv: ['--import', 'tsx'] })
  await Promise.race([once(child, 'message'), once(child, 'exit')])
  expect(child.exitCode).toBe(null)
  return child
}

async function listVersions({ db }: SqlDatabase): Promise<number[]> {
  const rows = await db.selectFrom('holdfast_migrations').selectAll().orderBy('version').execute()
  return rows.map(({ version }) => version)
}

async function countStates({ db }: SqlDatabase): Promise<number> {
  return (await db.selectFrom('holdfast_state').selectAll().execute()).length
}

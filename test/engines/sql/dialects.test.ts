import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { lockKeys } from '../../../src/engines/sql/snapshot/key-loader.ts'
import { migrate } from '../../../src/engines/sql/schema/migrate.ts'
import type { Connection, KeyName, SqlDatabase } from '../../../src/engines/sql/sql-dialect.ts'
import { type Statement, statement, words } from '../../../src/engines/sql/statement.ts'
import { Transactor } from '../../../src/engines/sql/commit/transactor.ts'
import { insertInto } from '../../../src/engines/sql/upsert.ts'
import {
  ID_BYTES_MAX,
  KEY_BYTES_MAX,
  OWNER_BYTES_MAX,
} from '../../../src/engine/validation/limits.ts'
import { compareNames, problemWithName } from '../../../src/engine/validation/names.ts'
import { readNowMs } from './commit/row-locks.ts'
import { MYSQL, POSTGRES, SQLITE } from './test-servers.ts'
import { useServer } from './use-server.ts'

describe.each([SQLITE, POSTGRES, MYSQL])('a database of $name', (kind) => {
  const server = useServer(kind)
  let where: string
  let database: SqlDatabase

  beforeEach(async () => {
    where = await server.create()
    database = await open()
    await migrate(database)
  })
  async function open(): Promise<SqlDatabase> {
    return server.closing(await kind.open(where))
  }

  it.each([
    { what: 'keys', bytesMax: KEY_BYTES_MAX, put: putKeys },
    { what: 'owners', bytesMax: OWNER_BYTES_MAX, put: putOwners },
    { what: 'sessions', bytesMax: ID_BYTES_MAX, put: putSessions },
  ])('tells $what apart by their bytes, and orders them so', async ({ bytesMax, put }) => {
    const names = listNames(bytesMax)
    const { table, column } = await put(database, names)
    const at = sql.ref(column)
    for (const name of names) {
      const { rows } = await sql<{ name: string }>`
        select ${at} as name from ${sql.table(table)} where ${at} = ${name}`.execute(database.db)
      expect(rows).toEqual([{ name }])
    }
    const { rows } = await sql<{ name: string }>`
      select ${at} as name from ${sql.table(table)} order by ${at}`.execute(database.db)
    expect(rows.map(({ name }) => name)).toEqual([...names].sort(compareNames))
  })

  it('keeps text of every kind as it is, and numbers up to 2^53', async () => {
    const [body, at_ms] = [`${listNames(256).join('')}\n\t"\\u0000"`.repeat(100), 2 ** 53 - 1]
    await database.db.insertInto('holdfast_events').values({ body, at_ms }).execute()
    const row = await database.db.selectFrom('holdfast_events').selectAll().executeTakeFirst()
    expect(row).toEqual({ id: 1, body, at_ms })
  })

  it('writes out text of every kind as it is', async () => {
    const { db, dialect } = database
    const text = fc.string({ unit: 'binary' }).map((one) => one.replaceAll('\0', ''))
    const hostile = fc.string({ unit: fc.constantFrom("'", '"', '\\', ';', '-', '?', '$1', '\n') })
    const texts = fc.array(fc.oneof(text, hostile), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(texts, async (bodies) => {
        const rows = bodies.map((body, index) => ({ at_ms: index, body }))
        const [, , found] = await dialect.run(db, [
          words('delete from holdfast_events'),
          insertInto('holdfast_events', rows),
          statement`select at_ms, body from holdfast_events where at_ms >= ${0} order by at_ms`,
        ])
        expect(found).toEqual(rows)
      }),
    )
  })

  it('replaces a row that is there, and leaves the others', async () => {
    const row = { key_id: 1, node: 'n', since_ms: 1, claim_by_ms: null }
    const { db, dialect } = database
    const put = (rows: readonly (typeof row)[]): Promise<unknown> =>
      dialect.run(db, [dialect.upsert('holdfast_refs', { by: ['key_id', 'node'], rows })])
    await put([row, { ...row, node: 'other' }])
    await put([
      { ...row, since_ms: 2 },
      { ...row, node: 'third' },
    ])
    const rows = await database.db.selectFrom('holdfast_refs').selectAll().orderBy('node').execute()
    expect(rows).toEqual([
      { ...row, since_ms: 2 },
      { ...row, node: 'other' },
      { ...row, node: 'third' },
    ])
  })

  it('has a clock that goes on inside a transaction', async () => {
    await new Transactor(database).write(async (db) => {
      const began = await readNowMs(database, db)
      await expect.poll(() => readNowMs(database, db)).toBeGreaterThan(began)
    })
  })

  it('reads one moment although others write meanwhile', async () => {
    const other = await open()
    await new Transactor(database).read(async (db) => {
      const before = await countKeys(db)
      await putKeys(other, ['new'])
      expect(await countKeys(db)).toBe(before)
    })
    expect(await countKeys(database.db)).toBe(1)
  })

  it('gives a waiter its place only after all earlier places are to be seen', async () => {
    await putKeys(database, ['key'])
    const takePlace = async (one: SqlDatabase): Promise<number> =>
      new Transactor(one).write(async (db) => {
        const { rows } = await sql<{ id: number; next_place: number }>`
          select id, next_place from holdfast_keys ${sql.raw(one.dialect.forUpdate)}`.execute(db)
        const { id = 0, next_place: place = 0 } = rows[0] ?? {}
        expect((await db.selectFrom('holdfast_refs').selectAll().execute()).length).toBe(place - 1)
        await db
          .insertInto('holdfast_refs')
          .values({ key_id: id, node: String(place), since_ms: place })
          .execute()
        await db
          .updateTable('holdfast_keys')
          .set({ next_place: place + 1 })
          .execute()
        return place
      })
    const databases = await Promise.all([open(), open()])
    const places = await Promise.all(
      Array.from({ length: 20 }, (_, index) => takePlace(databases[index % 2] as SqlDatabase)),
    )
    expect(places.sort((one, next) => one - next)).toEqual(range(1, 20))
  })

  it('has every key once although fifty make it at the same time', async () => {
    const databases = await Promise.all(range(1, 5).map(open))
    await Promise.all(
      range(1, 50).map((number) => makeKeys(databases[number % 5] as SqlDatabase, ['one'])),
    )
    expect(await listKeys(database)).toEqual(['one'])
  })

  it('has all keys once although fifty make some of them at the same time', async () => {
    const databases = await Promise.all(range(1, 5).map(open))
    const all = range(10, 29).map((number) => `key ${number}`)
    await Promise.all(
      range(1, 50).map((number) => {
        const first = number % 15
        const some = all.slice(first, first + 6)
        return makeKeys(databases[number % 5] as SqlDatabase, some)
      }),
    )
    expect(await listKeys(database)).toEqual(all)
  })

  it.skipIf(kind.name === 'sqlite')(
    'locks the rows that are asked for, and none beside them, however few there are',
    async () => {
      const names = range(10, 17).map((number) => `key ${number}`)
      await makeKeys(database, names)
      const { dialect } = database
      const lock = (some: readonly string[]): Statement =>
        lockKeys(
          dialect,
          some.map((name) => ({ space: 'lock', name })),
        )
      const { db: other } = await open()
      await database.db.connection().execute(async (one) => {
        const begin = dialect.begin.map(words)
        const found = (await dialect.run(one, [...begin, lock(names.slice(0, 4))])).at(-1) ?? []
        const ids = found.map((row) => Number(row['id']))
        await dialect.run(one, [dialect.removeAll('holdfast_keys', 'id', ids)])
        // Would wait for ever if it had to.
        await other.connection().execute(async (two) => {
          const rest = (await dialect.run(two, [...begin, lock(names.slice(4))])).at(-1) ?? []
          const others = rest.map((row) => Number(row['id']))
          const remove = dialect.removeAll('holdfast_keys', 'id', others)
          await dialect.run(two, [remove, words('commit')])
        })
        await dialect.run(one, [words('rollback')])
      })
      expect(await listKeys(database)).toEqual(names.slice(0, 4))
    },
  )
})

it('no name has a U+0000 in it, which not every database can keep', () => {
  expect(problemWithName('a\u0000b', KEY_BYTES_MAX)).toBe('has a control character')
})

/** Alike to some collation, some escaping, some trimming or some way to normalise. */
function listNames(bytesMax: number): string[] {
  const alike = ['a', 'A', 'a ', ' a', 'á', 'a\u0301', 'ａ', 'aa', 'å', '\u212b', 'ss', 'ß', 'ẞ']
  const turkish = ['i', 'I', 'ı', 'İ']
  const signs = [
    '\\',
    '\\\\',
    "\\'",
    "'",
    "''",
    '"',
    '""',
    '`',
    '%',
    '_',
    '?',
    '$1',
    ':a',
    '--',
    ';',
  ]
  const escapes = ['\\n', '\\0', '\\x00', '\\%', '\u00a0', '\u200d', '\ufeff']
  const wide = ['\u{1f44d}', '\u{1f44d}\u{1f3fd}', '\u{1f44e}', '\ue000', '\uffff', '\u{10ffff}']
  const long = ['x'.repeat(bytesMax), `${'x'.repeat(bytesMax - 1)}X`, 'é'.repeat(bytesMax / 2)]
  const cut = ['x'.repeat(bytesMax - 1), `${'x'.repeat(bytesMax - 1)} `]
  const names = [...alike, ...turkish, ...signs, ...escapes, ...wide, ...long, ...cut]
  for (const name of names) expect(problemWithName(name, bytesMax)).toBe(undefined)
  return names
}

interface Column {
  readonly table: string
  readonly column: string
}

function toKeys(names: readonly string[]): KeyName[] {
  return names.map((name) => ({ space: 'lock', name }))
}

async function putKeys({ db, dialect }: SqlDatabase, names: readonly string[]): Promise<Column> {
  await dialect.run(db, dialect.insertKeys(toKeys(names)))
  return { table: 'holdfast_keys', column: 'name' }
}

async function putOwners({ db, dialect }: SqlDatabase, names: readonly string[]): Promise<Column> {
  const hold = { session: null, reads: 0, writes: 1, token: 1, since_ms: 0, lease_at_ms: 0 }
  const rows = names.map((owner) => ({
    ...{ ...hold, key_id: 1, owner, party: owner, ttl_ms: 0, due_at_ms: 0, steps: '[]' },
  }))
  await dialect.run(db, [dialect.upsert('holdfast_holds', { by: ['key_id', 'owner'], rows })])
  return { table: 'holdfast_holds', column: 'owner' }
}

async function putSessions({ db, dialect }: SqlDatabase, ids: readonly string[]): Promise<Column> {
  const session = { grace_ms: 0, keeps_leases: 0, heard_at_ms: 0, due_at_ms: 0, ended: 0 }
  const rows = ids.map((id) => ({ id, ...session }))
  await dialect.run(db, [dialect.upsert('holdfast_sessions', { by: ['id'], rows })])
  return { table: 'holdfast_sessions', column: 'id' }
}

async function makeKeys(database: SqlDatabase, names: readonly string[]): Promise<void> {
  const { dialect } = database
  await new Transactor(database).write((db) => dialect.run(db, dialect.insertKeys(toKeys(names))))
}

async function listKeys({ db }: SqlDatabase): Promise<string[]> {
  const rows = await db.selectFrom('holdfast_keys').select('name').orderBy('name').execute()
  return rows.map(({ name }) => name)
}

async function countKeys(db: Connection): Promise<number> {
  return (await db.selectFrom('holdfast_keys').select('id').execute()).length
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

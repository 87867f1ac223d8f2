import { beforeEach, describe, expect, it } from 'vitest'
import { migrate } from '../../../../src/engines/sql/schema/migrate.ts'
import { OldRows } from '../../../../src/engines/sql/schema/old-rows.ts'
import { openSqlEngine } from '../../../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../../../src/engines/sql/sql-dialect.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { MYSQL, POSTGRES, SQLITE } from '../test-servers.ts'
import { useServer } from '../use-server.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS
const NOW_MS = 2_000_000_000_000

async function insertEvents({ db }: SqlDatabase, ...ages: number[]): Promise<void> {
  const values = ages.map((ageMs) => ({ at_ms: NOW_MS - ageMs, body: '{}' }))
  await db.insertInto('holdfast_events').values(values).execute()
}

async function insertLetters({ db }: SqlDatabase, ...ages: number[]): Promise<void> {
  const values = ages.map((ageMs) => ({ process: 'p', at_ms: NOW_MS - ageMs, body: '{}' }))
  await db.insertInto('holdfast_letters').values(values).execute()
}

async function insertEnds({ db }: SqlDatabase, key: string, ...ages: number[]): Promise<void> {
  const about = { space: 'lock', name: key, owner: 'o', mode: 'write', token: 1 } as const
  const values = ages.map((ageMs) => {
    const toMs = NOW_MS - ageMs
    return { ...about, from_ms: toMs, to_ms: toMs, end_kind: 'released' }
  })
  await db.insertInto('holdfast_history').values(values).execute()
}

const agesOf = (rows: readonly { readonly atMs: number }[]): number[] =>
  rows.map(({ atMs }) => NOW_MS - atMs)

async function listEvents({ db }: SqlDatabase): Promise<number[]> {
  const rows = db.selectFrom('holdfast_events').select('at_ms as atMs')
  return agesOf(await rows.orderBy('id').execute())
}

async function listLetters({ db }: SqlDatabase): Promise<number[]> {
  const rows = db.selectFrom('holdfast_letters').select('at_ms as atMs')
  return agesOf(await rows.orderBy('id').execute())
}

async function listEnds({ db }: SqlDatabase, key: string): Promise<number[]> {
  const rows = db.selectFrom('holdfast_history').select('to_ms as atMs').where('name', '=', key)
  return agesOf(await rows.orderBy('id').execute())
}

function countDown(from: number): number[] {
  return Array.from({ length: from }, (_, index) => from - index)
}

describe.each([SQLITE, POSTGRES, MYSQL])('what is too old on $name', (kind) => {
  const server = useServer(kind)
  let database: SqlDatabase

  beforeEach(async () => {
    database = server.closing(await kind.open(await server.create()))
    await migrate(database)
  })
  it('is an event after a minute', async () => {
    await insertEvents(database, MINUTE_MS + 1, MINUTE_MS, 0)
    await new OldRows().remove(database.db, NOW_MS)
    expect(await listEvents(database)).toEqual([MINUTE_MS, 0])
  })

  it('is a notification after ten minutes', async () => {
    await insertLetters(database, 10 * MINUTE_MS + 1, 10 * MINUTE_MS, 0)
    await new OldRows().remove(database.db, NOW_MS)
    expect(await listLetters(database)).toEqual([10 * MINUTE_MS, 0])
  })

  it('is the end of a hold after seven days', async () => {
    await insertEnds(database, 'k', WEEK_MS + 1, WEEK_MS, 0)
    await new OldRows().remove(database.db, NOW_MS)
    expect(await listEnds(database, 'k')).toEqual([WEEK_MS, 0])
  })

  it('is removed however much it is', async () => {
    await insertEvents(database, ...countDown(2_500).map((ageMs) => MINUTE_MS + ageMs))
    await new OldRows().remove(database.db, NOW_MS)
    expect(await listEvents(database)).toEqual([])
  })

  it('is an end of a key that has a hundred newer ones, each time anew', async () => {
    const oldRows = new OldRows()
    await insertEnds(database, 'busy', ...countDown(101))
    await insertEnds(database, 'full', ...countDown(100))
    await oldRows.remove(database.db, NOW_MS)
    expect(await listEnds(database, 'busy')).toEqual(countDown(100))
    expect(await listEnds(database, 'full')).toEqual(countDown(100))
    await insertEnds(database, 'full', 0)
    await oldRows.remove(database.db, NOW_MS)
    expect(await listEnds(database, 'busy')).toEqual(countDown(100))
    expect(await listEnds(database, 'full')).toEqual([...countDown(99), 0])
  })
})

describe('an engine', () => {
  const server = useServer(SQLITE)

  it('removes what is too old by itself, and nothing else', async () => {
    const where = await server.create()
    const database = server.closing(await SQLITE.open(where))
    await migrate(database)
    const clock = new VirtualClock({ nowMs: NOW_MS })
    const options = { clock, isClockOurs: true }
    server.closing(await openSqlEngine(() => SQLITE.open(where), options))
    const left = async (): Promise<number[][]> => [
      await listEvents(database),
      await listLetters(database),
      await listEnds(database, 'k'),
    ]

    await clock.advance(2 * MINUTE_MS)
    const writtenAtMs = NOW_MS - clock.nowMs()
    await insertEvents(database, writtenAtMs)
    await insertLetters(database, writtenAtMs)
    await insertEnds(database, 'k', writtenAtMs - MINUTE_MS + WEEK_MS)
    const all = await left()
    await clock.advance(MINUTE_MS - SECOND_MS)
    expect(await left()).toEqual(all)
    // As often as every minute somebody looks.
    await clock.advance(MINUTE_MS + SECOND_MS)
    expect(await left()).toEqual([[], [writtenAtMs], []])
    await clock.advance(9 * MINUTE_MS)
    expect(await left()).toEqual([[], [], []])
  })
})

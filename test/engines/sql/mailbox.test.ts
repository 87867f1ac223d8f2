import { afterAll, beforeAll, expect, it } from 'vitest'
import { Mailbox } from '../../../src/engines/sql/mailbox.ts'
import { openSqlEngine } from '../../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../../src/engines/sql/sql-dialect.ts'
import { Transactor } from '../../../src/engines/sql/transactor.ts'
import { SQLITE, type TestServer } from './test-servers.ts'

const PROCESS = 'p'

let server: TestServer
let database: SqlDatabase

beforeAll(async () => {
  server = await SQLITE.start()
  const where = await server.create()
  await (await openSqlEngine(() => SQLITE.open(where), {})).close()
  database = await SQLITE.open(where)
})

afterAll(async () => {
  await database.close()
  await server.stop()
})

async function write(owner: string): Promise<void> {
  const letter = { name: { space: 'lock', name: 'k' }, owner, requestId: '1', answer: {} }
  await database.db
    .insertInto('holdfast_letters')
    .values({ process: PROCESS, at_ms: 1, body: JSON.stringify(letter) })
    .execute()
}

async function count(): Promise<number> {
  return (await database.db.selectFrom('holdfast_letters').select('id').execute()).length
}

/** A database that does not let anything be removed for a while. */
class Keeping extends Transactor {
  isKeeping = true

  override async run<T>(work: Parameters<Transactor['run']>[0]): Promise<T> {
    const before = await count()
    const result = await super.run(async (db) =>
      db.transaction().execute(async (transaction) => {
        const value = await work(transaction)
        const after = await transaction.selectFrom('holdfast_letters').select('id').execute()
        if (this.isKeeping && after.length < before) throw new Error('not now')
        return value
      }),
    )
    return result as T
  }
}

it('a letter that could not be removed is not acted on again', async () => {
  await write('a')
  const owners: string[] = []
  const transactor = new Keeping(database)
  const mailbox = new Mailbox({
    transactor,
    process: PROCESS,
    receive: async ({ owner }) => void owners.push(owner),
  })
  await expect(mailbox.open()).rejects.toMatchObject({ code: 'LOCK_STORAGE_FAILED' })
  await write('b')
  transactor.isKeeping = false
  await mailbox.open()
  expect(owners).toEqual(['a', 'b'])
  expect(await count()).toBe(0)
})

it('a letter that could not be acted on stays, and the others are not acted on again', async () => {
  await write('a')
  await write('b')
  const owners: string[] = []
  let isAway = true
  const mailbox = new Mailbox({
    transactor: new Transactor(database),
    process: PROCESS,
    receive: async ({ owner }) => {
      if (isAway && owner === 'a') throw new Error('the database is away')
      owners.push(owner)
    },
  })
  await expect(mailbox.open()).rejects.toThrow('away')
  isAway = false
  await mailbox.open()
  expect(owners).toEqual(['b', 'a'])
  expect(await count()).toBe(0)
})

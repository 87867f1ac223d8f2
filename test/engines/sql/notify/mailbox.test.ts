import { afterAll, beforeAll, expect, it } from 'vitest'
import { NotificationInbox } from '../../../../src/engines/sql/notify/notification-inbox.ts'
import { openSqlEngine } from '../../../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../../../src/engines/sql/sql-dialect.ts'
import { Transactor } from '../../../../src/engines/sql/commit/transactor.ts'
import { SQLITE, type TestServer } from '../test-servers.ts'

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
  const notification = { name: { space: 'lock', name: 'k' }, owner, requestId: '1', answer: {} }
  await database.db
    .insertInto('holdfast_letters')
    .values({ process: PROCESS, at_ms: 1, body: JSON.stringify(notification) })
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

it('a notification that could not be removed is not acted on again', async () => {
  await write('a')
  const owners: string[] = []
  const transactor = new Keeping(database)
  const inbox = new NotificationInbox({
    transactor,
    process: PROCESS,
    receive: async ({ owner }) => void owners.push(owner),
  })
  await expect(inbox.open()).rejects.toMatchObject({ code: 'LOCK_STORAGE_FAILED' })
  await write('b')
  transactor.isKeeping = false
  await inbox.open()
  expect(owners).toEqual(['a', 'b'])
  expect(await count()).toBe(0)
})

it('a notification that could not be acted on stays, and the others are not acted on again', async () => {
  await write('a')
  await write('b')
  const owners: string[] = []
  let isAway = true
  const inbox = new NotificationInbox({
    transactor: new Transactor(database),
    process: PROCESS,
    receive: async ({ owner }) => {
      if (isAway && owner === 'a') throw new Error('the database is away')
      owners.push(owner)
    },
  })
  await expect(inbox.open()).rejects.toThrow('away')
  isAway = false
  await inbox.open()
  expect(owners).toEqual(['b', 'a'])
  expect(await count()).toBe(0)
})

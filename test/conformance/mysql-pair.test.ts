import { afterAll, beforeAll, describe, it, vi } from 'vitest'
import { openDatabase } from '../engine-process/open-database.ts'
import { MYSQL, type TestServer } from '../engines/sql/test-servers.ts'
import { SharedDatabase } from './fixtures/sql-fixtures.ts'
import { createPairFixture, OtherProcess, PAIR_TEST_MS_MAX } from './fixtures/sql-pair-fixtures.ts'
import { runStoreSuites } from './fixtures/run-store-suites.ts'

let server: TestServer | undefined
let where = ''
const other = new OtherProcess()

vi.setConfig({ testTimeout: PAIR_TEST_MS_MAX })

beforeAll(async () => {
  server = await MYSQL.start()
  where = await server.create()
}, 300_000)

afterAll(async () => {
  await other.stop()
  await server?.stop()
})

const fixture = createPairFixture({
  name: 'two processes on mysql:',
  other,
  create: async () => {
    const address = { kind: 'mysql', where } as const
    const { remove } = await new SharedDatabase(() => openDatabase(address)).create()
    return { address, remove }
  },
})

runStoreSuites(fixture, { describe, it })

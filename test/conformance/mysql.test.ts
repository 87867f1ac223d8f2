import { afterAll, beforeAll, describe, it } from 'vitest'
import { MYSQL, type TestServer } from '../engines/sql/test-servers.ts'
import { createSqlFixture, SharedDatabase } from './fixtures/sql-fixtures.ts'
import { runStoreSuites } from './fixtures/run-store-suites.ts'

let server: TestServer | undefined
let where = ''

beforeAll(async () => {
  server = await MYSQL.start()
  where = await server.create()
}, 300_000)

afterAll(() => server?.stop())

const { create } = new SharedDatabase(() => MYSQL.open(where))

runStoreSuites(createSqlFixture({ name: 'mysql:', create }), { describe, it }, [
  'limits and bad input',
  'names',
])

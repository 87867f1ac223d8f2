import { afterAll, beforeAll, describe, it } from 'vitest'
import { runEngineSuites } from '../../src/testing/engine-suite/run-engine-suites.ts'
import { MYSQL, type TestServer } from '../engines/sql/test-servers.ts'
import { createSqlFixture, SharedDatabase } from './sql-fixtures.ts'

let server: TestServer | undefined
let where = ''

beforeAll(async () => {
  server = await MYSQL.start()
  where = await server.create()
}, 300_000)

afterAll(() => server?.stop())

const { create } = new SharedDatabase(() => MYSQL.open(where))

runEngineSuites(createSqlFixture({ name: 'mysql:', create }), { describe, it })

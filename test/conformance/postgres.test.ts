import { afterAll, beforeAll, describe, it } from 'vitest'
import { runEngineSuites } from '../../src/testing/engine-suite/run-engine-suites.ts'
import { POSTGRES, type TestServer } from '../engines/sql/test-servers.ts'
import { createSqlFixture, SharedDatabase } from './fixtures/sql-fixtures.ts'

let server: TestServer | undefined
let where = ''

beforeAll(async () => {
  server = await POSTGRES.start()
  where = await server.create()
}, 300_000)

afterAll(() => server?.stop())

const { create } = new SharedDatabase(() => POSTGRES.open(where))

runEngineSuites(createSqlFixture({ name: 'postgres:', create }), { describe, it })

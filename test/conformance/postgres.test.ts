import { afterAll, beforeAll, describe, it } from 'vitest'
import { openPostgres } from '../../src/engines/sql/postgres/open-postgres.ts'
import { runEngineSuites } from '../../src/testing/engine-suite/run-engine-suites.ts'
import { startPostgres } from '../services/postgres.ts'
import type { Service } from '../services/service.ts'
import { createSqlFixture, SharedDatabase } from './sql-fixtures.ts'

let service: Service | undefined

beforeAll(async () => {
  service = await startPostgres()
}, 300_000)

afterAll(() => service?.stop())

const { create } = new SharedDatabase(() => openPostgres(service?.url ?? ''))

runEngineSuites(createSqlFixture({ name: 'postgres:', create }), { describe, it })

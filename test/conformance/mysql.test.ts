import { afterAll, beforeAll, describe, it } from 'vitest'
import { openMysql } from '../../src/engines/sql/mysql/open-mysql.ts'
import { runEngineSuites } from '../../src/testing/engine-suite/run-engine-suites.ts'
import { startMariadb } from '../services/mariadb.ts'
import type { Service } from '../services/service.ts'
import { createSqlFixture, SharedDatabase } from './sql-fixtures.ts'

let service: Service | undefined

beforeAll(async () => {
  service = await startMariadb()
}, 300_000)

afterAll(() => service?.stop())

const { create } = new SharedDatabase(() => openMysql(service?.url ?? ''))

runEngineSuites(createSqlFixture({ name: 'mysql:', create }), { describe, it })

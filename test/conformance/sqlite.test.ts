import { describe, it } from 'vitest'
import { runEngineSuites } from '../../src/testing/engine-suite/run-engine-suites.ts'
import { createSqlFixture, createSqliteFile } from './fixtures/sql-fixtures.ts'

runEngineSuites(createSqlFixture({ name: 'sqlite:', create: createSqliteFile }), { describe, it })

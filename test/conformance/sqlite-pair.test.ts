import { afterAll, describe, it, vi } from 'vitest'
import { createPairFixture, OtherProcess, PAIR_TEST_MS_MAX } from './fixtures/sql-pair-fixtures.ts'
import { createSqliteFile } from './fixtures/sql-fixtures.ts'
import { runStoreSuites } from './fixtures/run-store-suites.ts'

const other = new OtherProcess()

vi.setConfig({ testTimeout: PAIR_TEST_MS_MAX })

afterAll(() => other.stop())

const fixture = createPairFixture({
  name: 'two processes on sqlite:',
  other,
  create: async () => {
    const { file, remove } = await createSqliteFile()
    return { address: { kind: 'sqlite', where: file }, remove }
  },
})

runStoreSuites(fixture, { describe, it })

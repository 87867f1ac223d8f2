import { afterAll, beforeAll, describe, it, vi } from 'vitest'
import { runEngineSuites } from '../../src/testing/engine-suite/run-engine-suites.ts'
import { openDatabase } from '../engine-process/open-database.ts'
import { startMariadb } from '../services/mariadb.ts'
import type { Service } from '../services/service.ts'
import { SharedDatabase } from './sql-fixtures.ts'
import { createPairFixture, OtherProcess, PAIR_TEST_MS_MAX } from './sql-pair-fixtures.ts'

let service: Service | undefined
const other = new OtherProcess()

vi.setConfig({ testTimeout: PAIR_TEST_MS_MAX })

beforeAll(async () => {
  service = await startMariadb()
}, 300_000)

afterAll(async () => {
  await other.stop()
  await service?.stop()
})

const fixture = createPairFixture({
  name: 'two processes on mysql:',
  other,
  create: async () => {
    const address = { kind: 'mysql', where: service?.url ?? '' } as const
    const { remove } = await new SharedDatabase(() => openDatabase(address)).create()
    return { address, remove }
  },
})

runEngineSuites(fixture, { describe, it })

import { describe, it } from 'vitest'
import { createRealClockFixture } from './fixtures/embedded-fixtures.ts'
import { runStoreSuites } from './fixtures/run-store-suites.ts'

const isLong = process.env['HOLDFAST_TEST_DOSE'] === 'long'

runStoreSuites(createRealClockFixture(), {
  describe: isLong ? describe : describe.skip,
  it: it.concurrent,
})

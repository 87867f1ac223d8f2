import { describe, it } from 'vitest'
import { runEngineSuites } from '../../src/testing/engine-suite/run-engine-suites.ts'
import { createRealClockFixture } from './embedded-fixtures.ts'

const isLong = process.env['HOLDFAST_TEST_DOSE'] === 'long'

runEngineSuites(createRealClockFixture(), {
  describe: isLong ? describe : describe.skip,
  it: it.concurrent,
})

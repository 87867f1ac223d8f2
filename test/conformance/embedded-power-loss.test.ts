import { describe, it } from 'vitest'
import { createPowerLossFixture } from './fixtures/embedded-fixtures.ts'
import { runStoreSuites } from './fixtures/run-store-suites.ts'

runStoreSuites(createPowerLossFixture(), { describe, it })

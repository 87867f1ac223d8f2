import { describe, it } from 'vitest'
import { createPowerLossFixture } from './embedded-fixtures.ts'
import { runStoreSuites } from './run-store-suites.ts'

runStoreSuites(createPowerLossFixture(), { describe, it })

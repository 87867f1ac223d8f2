import { describe, it } from 'vitest'
import { runEngineSuites } from '../../src/testing/engine-suite/run-engine-suites.ts'
import { createPowerLossFixture } from './embedded-fixtures.ts'

runEngineSuites(createPowerLossFixture(), { describe, it })

import { describe, it } from 'vitest'
import { runEngineSuites } from '../../src/testing/engine-suite/run-engine-suites.ts'
import { createMemoryFixture } from './fixtures/embedded-fixtures.ts'

runEngineSuites(createMemoryFixture(), { describe, it })

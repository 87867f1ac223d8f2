import { describe, it } from 'vitest'
import { runEngineSuites } from '../../src/testing/engine-suite/run-engine-suites.ts'
import { createFileFixture } from './fixtures/embedded-fixtures.ts'

runEngineSuites(createFileFixture(), { describe, it })

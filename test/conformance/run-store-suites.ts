import type { EngineFixture } from '../../src/testing/engine-suite/engine-fixture.ts'
import {
  runEngineSuites,
  type TestRunner,
} from '../../src/testing/engine-suite/run-engine-suites.ts'

const isLong = process.env['HOLDFAST_TEST_DOSE'] === 'long'

/**
 * Suites about what the law decides on one key. They run in full on memory, file, SQLite, PostgreSQL and a
 * session; another store or a second process has no say in them.
 */
const DECIDED_BY_THE_LAW: ReadonlySet<string> = new Set([
  'coordination',
  'deadlock',
  'lanes',
  'limits and bad input',
  'names',
  're-entry',
  'reads',
  'release and take-over',
  'renewal',
  'skip',
  'upgrade',
])

/** The suites that touch the store or a second process, and those of `also`; all in the long dose. */
export function runStoreSuites(
  fixture: EngineFixture,
  runner: TestRunner,
  also: readonly string[] = [],
): void {
  const isMeant = (suite: string): boolean =>
    isLong || !DECIDED_BY_THE_LAW.has(suite) || also.includes(suite)
  runEngineSuites(fixture, {
    ...runner,
    describe: (name, body) => (isMeant(name) ? runner.describe(name, body) : undefined),
  })
}

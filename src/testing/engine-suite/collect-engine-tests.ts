import assert from 'node:assert/strict'
import type { EngineException, EngineFixture } from './engine-fixture.ts'
import type { EngineSuite, EngineTest } from './engine-test.ts'
import { ENGINE_SUITES } from './index.ts'
import { type EngineTestResult, runEngineTest } from './run-engine-test.ts'

/** A test of the suite, bound to an engine, for those who have no test runner at hand. */
export interface CollectedTest {
  readonly suite: string
  readonly title: string
  /** Rejects if the test fails. */
  run(): Promise<EngineTestResult>
}

/** Every test of every suite, in the order of the registry. */
export function collectEngineTests(fixture: EngineFixture): CollectedTest[] {
  const tests = Object.values(ENGINE_SUITES).flatMap((suite) =>
    suite.tests.map((test) => collect(fixture, suite, test)),
  )
  return [...tests, collectExceptionCheck(fixture)]
}

function collect(fixture: EngineFixture, suite: EngineSuite, test: EngineTest): CollectedTest {
  const exception = fixture.exceptions?.find((entry) => isAbout(entry, suite.name, test.title))
  return {
    suite: suite.name,
    title: test.title,
    run: () =>
      exception === undefined
        ? runEngineTest(fixture, test)
        : expectFailure(() => runEngineTest(fixture, test), exception),
  }
}

function isAbout({ test }: EngineException, suite: string, title: string): boolean {
  return test === title || test === `${suite}: ${title}`
}

/** A declared exception must still be one, so that a repaired engine does not stay excused. */
async function expectFailure(
  run: () => Promise<EngineTestResult>,
  exception: EngineException,
): Promise<EngineTestResult> {
  try {
    await run()
  } catch {
    return { kind: 'skipped', reason: exception.reason }
  }
  assert.fail(`"${exception.test}" does not fail any more; remove it from the exceptions`)
}

function collectExceptionCheck(fixture: EngineFixture): CollectedTest {
  const { exceptions = [] } = fixture
  const isKnown = (exception: EngineException): boolean =>
    Object.values(ENGINE_SUITES).some((suite) =>
      suite.tests.some(({ title }) => isAbout(exception, suite.name, title)),
    )
  return {
    suite: 'exceptions',
    title: 'every declared exception names a test',
    run: async () => {
      const unknown = exceptions.filter((exception) => !isKnown(exception))
      assert.deepEqual(unknown, [])
      return { kind: 'passed' }
    },
  }
}

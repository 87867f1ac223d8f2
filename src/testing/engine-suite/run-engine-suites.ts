import { collectEngineTests } from './collect-engine-tests.ts'
import type { EngineFixture } from './engine-fixture.ts'

/** The part of a test runner that the suites need. Vitest, Jest-likes and `node:test` all have it. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  it(title: string, body: (context: TestContext) => Promise<void>): unknown
}

/** What a runner hands to a running test, as far as it is used here. */
export interface TestContext {
  skip(reason?: string): unknown
}

/** Register every suite for one engine with a test runner. */
export function runEngineSuites(fixture: EngineFixture, runner: TestRunner): void {
  const tests = collectEngineTests(fixture)
  const suites = new Set(tests.map(({ suite }) => suite))
  runner.describe(fixture.name, () => {
    for (const suite of suites) {
      runner.describe(suite, () => {
        for (const test of tests) {
          if (test.suite !== suite) continue
          runner.it(test.title, async (context) => {
            const result = await test.run()
            if (result.kind === 'skipped') context.skip(result.reason)
          })
        }
      })
    }
  })
}

import { AssertionError } from 'node:assert'
import { describe, expect, it } from 'vitest'
import {
  type CollectedTest,
  collectEngineTests,
} from '../../src/testing/engine-suite/collect-engine-tests.ts'
import type { EngineFixture } from '../../src/testing/engine-suite/engine-fixture.ts'
import {
  createFileFixture,
  createMemoryFixture,
} from '../conformance/fixtures/embedded-fixtures.ts'
import { MUTANTS } from './mutants.ts'

const isLong = process.env['HOLDFAST_TEST_DOSE'] === 'long'

function findTest(fixture: EngineFixture, name: string): CollectedTest {
  const test = collectEngineTests(fixture).find(({ suite, title }) => `${suite}: ${title}` === name)
  if (test === undefined) throw new Error(`there is no test "${name}"`)
  return test
}

/** The names of the tests that fail on an engine. */
async function listFailing(fixture: EngineFixture): Promise<string[]> {
  const failing: string[] = []
  for (const test of collectEngineTests(fixture)) {
    await test.run().catch(() => failing.push(`${test.suite}: ${test.title}`))
  }
  return failing
}

describe('the right engine', () => {
  it('passes every test in memory', async () => {
    expect(await listFailing(createMemoryFixture())).toEqual([])
  })

  it.each([...new Set(MUTANTS.map(({ killedBy }) => killedBy))])('passes "%s"', async (name) => {
    const isStored = name.startsWith('restart: ')
    await findTest(isStored ? createFileFixture() : createMemoryFixture(), name).run()
  })
})

describe('a wrong engine', () => {
  it('has a name of its own', () => {
    const names = MUTANTS.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })

  it.each(MUTANTS)('$name is killed by "$killedBy"', async ({ fixture, killedBy }) => {
    const failure: unknown = await findTest(fixture, killedBy)
      .run()
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(AssertionError)
  })

  it.runIf(isLong).each(MUTANTS)('$name fails on the whole suite', async ({ fixture }) => {
    expect(await listFailing(fixture)).not.toEqual([])
  })
})

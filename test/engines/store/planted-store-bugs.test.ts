import { AssertionError } from 'node:assert'
import { describe, expect, it } from 'vitest'
import type { KeyStoreFixture } from '../../../src/testing/key-store-suite/key-store-fixture.ts'
import type { KeyStoreTest } from '../../../src/testing/key-store-suite/key-store-test.ts'
import { KEY_STORE_SUITES, runKeyStoreTest } from '../../../src/testing/key-store-suite/index.ts'
import { distortStore, type PlantedBug } from './distort-store.ts'
import { createMemoryFixture } from './memory-fixture.ts'
import { PLANTED_STORE_BUGS, type PlantedStoreBug } from './planted-store-bugs.ts'

/** What a wrong store never does is not to be waited for long. */
const PATIENCE_MS = 250

function createWrongFixture({ name, plant }: PlantedStoreBug): KeyStoreFixture {
  return createMemoryFixture({ name, plant, patienceMs: PATIENCE_MS })
}

function findTest(name: string): KeyStoreTest {
  const all = KEY_STORE_SUITES.flatMap((suite) =>
    suite.tests.map((test) => ({ test, name: `${suite.name}: ${test.title}` })),
  )
  const found = all.filter((one) => one.name === name)
  expect(found, name).toHaveLength(1)
  return (found[0] as (typeof all)[number]).test
}

describe('the suite of key stores', () => {
  it.for(PLANTED_STORE_BUGS)('notices that $name', async (bug) => {
    const test = findTest(bug.foundBy)
    const failure: unknown = await runKeyStoreTest(createWrongFixture(bug), test).catch(
      (error: unknown) => error,
    )
    expect(failure).toBeInstanceOf(AssertionError)
  })

  it('finds nothing wrong with a right store in the same place', async () => {
    const plant = (): PlantedBug => ({ wrap: (store) => distortStore(store, {}) })
    const fixture = createMemoryFixture({ name: 'a store that is passed on', plant })
    for (const { tests } of KEY_STORE_SUITES) {
      for (const test of tests) await runKeyStoreTest(fixture, test)
    }
  })
})

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

const FREE = 'a release frees the lock'
const STAND = 'holds stand after a restart'

function find(fixture: EngineFixture, title: string): CollectedTest {
  const test = collectEngineTests(fixture).find((one) => one.title === title)
  if (test === undefined) throw new Error(`there is no test "${title}"`)
  return test
}

function wrongEngine(name: string): EngineFixture {
  const mutant = MUTANTS.find((one) => one.name === name)
  if (mutant === undefined) throw new Error(`there is no mutant "${name}"`)
  return mutant.fixture
}

describe('an exception of an engine', () => {
  const exceptions = [{ test: FREE, reason: 'known' }]

  it('excuses a test that fails', async () => {
    const fixture = { ...wrongEngine('first-owner-for-ever'), exceptions }
    expect(await find(fixture, FREE).run()).toEqual({ kind: 'skipped', reason: 'known' })
  })

  it('is an error when the test does not fail any more', async () => {
    const fixture = { ...createMemoryFixture(), exceptions }
    await expect(find(fixture, FREE).run()).rejects.toThrow('does not fail any more')
  })

  it('is an error when it excuses what would not run at all', async () => {
    const fixture = { ...createMemoryFixture(), exceptions: [{ test: STAND, reason: 'known' }] }
    await expect(find(fixture, STAND).run()).rejects.toThrow('does not fail any more')
  })

  it('names a test that exists', async () => {
    const title = 'every declared exception names a test'
    const unknown = [{ test: 'no such test', reason: 'none' }]
    await expect(
      find({ ...createMemoryFixture(), exceptions: unknown }, title).run(),
    ).rejects.toThrow('Expected values')
    expect(await find(createMemoryFixture(), title).run()).toEqual({ kind: 'passed' })
  })
})

describe('a test that needs a promise', () => {
  it('is skipped with a reason where the engine does not make it', async () => {
    const result = await find(createMemoryFixture(), STAND).run()
    expect(result).toEqual({
      kind: 'skipped',
      reason: 'the engine does not promise to survive a restart',
    })
  })

  it('fails where the engine makes it and its fixture cannot show it', async () => {
    const { name, open } = createFileFixture()
    const fixture: EngineFixture = {
      name,
      open: async (options) => {
        const { engine, advance, close } = await open(options)
        return { engine, advance, close }
      },
    }
    await expect(find(fixture, STAND).run()).rejects.toThrow('can reopen it')
  })
})

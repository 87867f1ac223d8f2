import { describe, expect, it } from 'vitest'
import { readSourceFiles } from './guards/source-file.ts'
import { findCrowdedFolders, findUntidyFiles } from './guards/tidy.ts'

/** These two spell out what the others may not. */
const EXEMPT = ['test/meta/tidy.test.ts', 'test/meta/guards/tidy.ts']

describe('the repository', () => {
  it('is tidy', () => {
    const files = readSourceFiles('.').filter(({ path }) => !EXEMPT.includes(path))
    expect(findUntidyFiles(files)).toEqual([])
  })

  it('has no folder with more files than a reader can choose between', () => {
    expect(findCrowdedFolders(readSourceFiles('.').map(({ path }) => path))).toEqual([])
    const crowd = Array.from({ length: 21 }, (_, index) => `src/law/a${index}.ts`)
    expect(findCrowdedFolders(crowd)).toHaveLength(1)
  })

  it.each([
    ['a note to do it later', 'src/law/a.ts', '// TODO: later'],
    ['a note to do it later in the docs', 'docs/a.md', 'FIXME'],
    ['an emoji', 'README.md', 'Fast \u{1F680}'],
    ['a path of one machine', 'scripts/a.mjs', `const home = '/home/ada/holdfast'`],
    ['a registry in the lock file', 'package-lock.json', `"resolved": "https://host/a.tgz"`],
    ['a secret', 'docs/a.md', '//host/:_authToken=abc'],
    ['a rule silenced without a reason', 'src/locks/a.ts', '// oxlint-disable-next-line max-depth'],
    ['commented-out code', 'src/locks/a.ts', '  // const lock = 1'],
    ['a commented-out call', 'src/locks/a.ts', '  // await lock.release()'],
    ['a file name without an idea', 'src/locks/utils.ts', ''],
    ['a folder of helpers in a file', 'test/locks/helpers.ts', ''],
    ['a test beside the source', 'src/locks/a.test.ts', ''],
    ['settings of one machine', '.npmrc', ''],
    ['a page in camel case', 'docs/httpApi.md', ''],
    ['an ADR without its number', 'docs/adr/one-law.md', ''],
    ['a long script', 'src/engines/redis/a.lua', 'local x\n'.repeat(121)],
    ['a large file', 'docs/a.md', 'a'.repeat(200_000)],
    ['a title with "should"', 'test/a.test.ts', `it('should hold', () => {})`],
    ['a title with "should" in a table', 'test/a.test.ts', `it.each([1])('%s should hold', f)`],
    ['a title with "should" in a template', 'test/a.test.ts', 'describe(`${x} should`, f)'],
    ['a title with "should" in a suite', 'src/testing/a.ts', `engineTest('should hold', f)`],
    ['a title that is a number', 'test/a.test.ts', `it('#12', () => {})`],
  ])('is untidy with %s', (_, path, text) => {
    expect(findUntidyFiles([{ path, text }])).toHaveLength(1)
  })

  it.each([
    ['src/locks/a.ts', '// oxlint-disable-next-line max-depth -- the parser reads better whole'],
    ['src/locks/a.ts', '// return early when the lock was lost'],
    ['test/a.test.ts', `it('a stale owner cannot release a lock it lost', () => {})`],
    ['docs/a.md', 'A directory such as `/var/lib/holdfast`, or one below `network/home/a`.'],
  ])('is tidy with a good %s', (path, text) => {
    expect(findUntidyFiles([{ path, text }])).toEqual([])
  })
})

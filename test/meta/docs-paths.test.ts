import { describe, expect, it } from 'vitest'
import { findDeadPaths } from './guards/docs-paths.ts'
import { readSourceFiles } from './guards/source-file.ts'

const THERE = ['docs/errors.md', 'test/law/acquire.test.ts', 'LICENSE']

describe('what the docs point at', () => {
  it('is there', () => {
    const files = readSourceFiles('.')
    const pages = files.filter(({ path }) => path.endsWith('.md'))
    const paths = files.map(({ path }) => path)
    expect(findDeadPaths(pages, paths)).toEqual([])
  })

  it.each([
    ['a file in a command', 'Run `npx vitest run test/law/decide.test.ts`.'],
    ['a folder', 'Look into `src/laws`.'],
    ['a link', 'See [errors](mistakes.md).'],
    ['a link to a part of a page', 'See [errors](mistakes.md#codes).'],
  ])('is missed where it is not there: %s', (_, text) => {
    expect(findDeadPaths([{ path: 'docs/a.md', text }], THERE)).toHaveLength(1)
  })

  it.each([
    'Run `npx vitest run test/law/acquire.test.ts`, or all of `test/law`.',
    'See [errors](errors.md#codes), the [licence](../LICENSE) and [Node](https://nodejs.org/docs/x).',
    'In a test/law/nowhere.ts that is not code.',
  ])('is found where it is there: %s', (text) => {
    expect(findDeadPaths([{ path: 'docs/a.md', text }], THERE)).toEqual([])
  })
})

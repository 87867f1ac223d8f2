import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listFences } from './guards/fences.ts'
import { PackedPackage } from './guards/packed-package.ts'
import { findBrokenFences } from './guards/run-fences.ts'
import { readSourceFiles } from './guards/source-file.ts'

let packed: PackedPackage

beforeAll(() => {
  packed = new PackedPackage()
  packed.addPeers()
})

afterAll(() => packed.remove())

/** A page, by its path and its lines. */
type Page = readonly [path: string, ...lines: string[]]

function findFaults(...pages: readonly Page[]): string[] {
  const fences = pages.flatMap(([path, ...lines]) => listFences({ path, text: lines.join('\n') }))
  return findBrokenFences(fences, packed.folder)
}

describe('the code in the docs', () => {
  it('compiles against the package, and runs where it says so', () => {
    const sources = readSourceFiles('src', /\.ts$/)
    const fences = [...readSourceFiles('.', /\.md$/), ...sources].flatMap(listFences)
    expect(findBrokenFences(fences, packed.folder)).toEqual([])
  })

  it('is on the first page, and runs', () => {
    const [readme] = readSourceFiles('.', /^README\.md$/)
    expect(readme && listFences(readme).some(({ use }) => use === 'run')).toBe(true)
  })
})

it('the first page can be pasted into a file of JavaScript as well', () => {
  const fences = readSourceFiles('.', /^README\.md$/).flatMap(listFences)
  const pasted = fences.filter(({ use }) => use === 'run')
  const inJavaScript = pasted.map((fence) => ({ ...fence, language: 'js' as const }))
  expect(findBrokenFences(inJavaScript, packed.folder)).toEqual([])
})

describe('the check of the code in the docs', () => {
  it('reports what does not compile, and where it is', () => {
    const comment = ['/**', ' * @example', ' * ```ts', ' * let a: 1 = 2', ' * ```', ' */']
    const faults = findFaults(
      ['README.md', '```ts', `import { gone } from 'holdfast'`, '```'],
      ['docs/page.md', '# Page', '', '```ts', '', 'let a: 1 = 2', '```'],
      ['docs/page.md', '```js', 'Math.max(null)', '```'],
      ['src/locks/a.ts', 'export {}', ...comment, 'export const a = 1'],
    )
    expect(faults.sort()).toEqual([
      expect.stringMatching(/^README\.md:2:10: error TS2305/),
      expect.stringMatching(/^docs\/page\.md:2:10: error TS2345/),
      expect.stringMatching(/^docs\/page\.md:5:5: error TS2322/),
      expect.stringMatching(/^src\/locks\/a\.ts:5:5: error TS2322/),
    ])
  })

  it('runs only what asks for it, and reports what fails', () => {
    const faults = findFaults(
      ['docs/run.md', '```ts run', `throw new Error('no')`, '```'],
      ['docs/check.md', '```ts', `throw new Error('not run')`, '```'],
      ['docs/fragment.md', '```ts fragment', 'let a: 1 = 2', '```'],
      ['docs/shell.md', '```sh', 'npm test', '```'],
    )
    expect(faults).toEqual([expect.stringMatching(/^docs\/run\.md:2 failed \(1\): [^]*no/)])
  })

  it.each(['```typescript', '```ts runs', '```js run fragment', '```tsx'])('rejects %s', (tag) => {
    expect(() => findFaults(['docs/page.md', tag, '```'])).toThrow('docs/page.md:1')
  })

  it('rejects a block without an end', () => {
    expect(() => findFaults(['docs/page.md', '', '```ts', 'let a'])).toThrow('docs/page.md:2')
  })
})

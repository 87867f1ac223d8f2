import { expect, it } from 'vitest'
import { readSourceFiles, type SourceFile } from './guards/source-file.ts'

/** What a page of an engine tells, in this order, so that two engines can be compared. */
const HEADINGS: readonly string[] = [
  'When to choose it',
  'Example',
  'Guarantees and limits',
  'Clock',
  'Round trips',
  'Waking',
  'Settings',
  'Clean-up',
  'Measured speed',
]

/** The headings of a page, without those that are in examples. */
function listHeadings({ text }: SourceFile): string[] {
  const prose = text.replaceAll(/^```.*?^```$/gms, '')
  return [...prose.matchAll(/^## (.+)$/gm)].map((match) => match[1] as string)
}

/** The pages that tell something else, less or more. */
function findOddPages(pages: readonly SourceFile[]): string[] {
  return pages
    .filter((page) => listHeadings(page).join('\n') !== HEADINGS.join('\n'))
    .map(({ path }) => path)
}

it('the pages of the engines all have the same headings', () => {
  const pages = readSourceFiles('docs/engines')
  expect(pages.length).toBeGreaterThan(1)
  expect(findOddPages(pages)).toEqual([])
})

const GOOD = HEADINGS.map((heading) => `## ${heading}\n`)

it.each([
  ['one left out', GOOD.slice(1)],
  ['one more', [...GOOD, '## Colour\n']],
  ['one that is only in an example', [...GOOD.slice(0, -1), '```md\n', ...GOOD.slice(-1), '```\n']],
  ['another order', GOOD.toReversed()],
])('the guard fires on a page with %s', (_, lines) => {
  const good = { path: 'docs/engines/good.md', text: `# Good\n${GOOD.join('')}` }
  const bad = { path: 'docs/engines/bad.md', text: `# Bad\n${lines.join('')}` }
  expect(findOddPages([good, bad])).toEqual(['docs/engines/bad.md'])
})

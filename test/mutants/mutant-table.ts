import type { MutantFacts } from './mutant.ts'

const BEGIN = '<!-- mutants:begin -->'
const END = '<!-- mutants:end -->'

/** The list of wrong engines as the docs show it. */
export function formatMutantTable(mutants: readonly MutantFacts[]): string {
  const rows = mutants.map(
    ({ name, fault, killedBy }) => `| \`${name}\` | ${fault} | ${killedBy} |`,
  )
  return ['| wrong engine | what it imitates | killed by |', '| --- | --- | --- |', ...rows].join(
    '\n',
  )
}

/** What stands between the two marks of a page. */
export function findMutantTable(page: string): string {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin === -1 || end === -1) throw new Error(`the page lacks ${BEGIN} or ${END}`)
  return page.slice(begin + BEGIN.length, end).trim()
}

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findMutantTable, formatMutantTable } from './mutant-table.ts'
import { MUTANTS } from './mutants.ts'

const page = readFileSync(new URL('../../docs/testing.md', import.meta.url), 'utf8')

describe('the list of wrong engines in docs/testing.md', () => {
  it('is that of the tests', () => {
    expect(findMutantTable(page)).toBe(formatMutantTable(MUTANTS))
  })

  it('differs as soon as one is missing', () => {
    expect(findMutantTable(page)).not.toBe(formatMutantTable(MUTANTS.slice(1)))
  })

  it('must be on the page', () => {
    expect(() => findMutantTable('# Testing')).toThrow('the page lacks')
  })
})

import { expect, it } from 'vitest'
import type { Scenario } from '../../bench/scenario.ts'
import { selectContestants } from '../../bench/select-contestants.ts'

const open = (): never => {
  throw new Error('nothing is measured here')
}

const SCENARIO: Scenario = {
  name: 'race',
  title: 'Three of them.',
  figure: { kind: 'rate', operation: 'cycle' },
  cases: ['one'],
  contestants: { ours: open, theirs: open, 'theirs, tuned': open },
  ours: ['ours'],
  comparisons: [
    { caseName: 'one', contestant: 'ours', count: 'overtakes' },
    { caseName: 'one', contestant: 'ours', against: 'theirs' },
    { caseName: 'one', contestant: 'theirs, tuned', against: 'theirs' },
  ],
}

it('without a choice everybody takes part', () => {
  expect(selectContestants(SCENARIO, [])).toBe(SCENARIO)
})

it.each([
  [['ours'], ['ours'], 1],
  [['their'], ['theirs', 'theirs, tuned'], 1],
  [['tuned', 'our'], ['ours', 'theirs, tuned'], 1],
  [['ours', 'theirs'], ['ours', 'theirs', 'theirs, tuned'], 3],
])('%j takes part, and is compared with those who do', (who, names, comparisons) => {
  const selected = selectContestants(SCENARIO, who)
  expect(Object.keys(selected.contestants)).toEqual(names)
  expect(selected.comparisons).toHaveLength(comparisons)
})

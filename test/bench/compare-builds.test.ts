import { expect, it } from 'vitest'
import { compareBuilds, findBuild } from '../../bench/compare-builds.ts'
import type { Scenario } from '../../bench/scenario.ts'

const open = (): never => {
  throw new Error('nothing is measured here')
}

const SCENARIO: Scenario = {
  name: 'race',
  title: 'Two of ours and a peer.',
  figure: { kind: 'rate', operation: 'cycle' },
  cases: ['one', 'two'],
  contestants: { session: open, pool: open, theirs: open },
  ours: ['session', 'pool'],
  leftOut: { two: ['pool'] },
  comparisons: [{ caseName: 'one', contestant: 'session', against: 'theirs', atLeast: 2 }],
}

it('ours take part twice, and peers not at all', () => {
  const names = Object.keys(compareBuilds(SCENARIO).contestants)
  expect(names).toEqual(['session', 'session, before', 'pool', 'pool, before'])
})

it('each of ours is compared with itself in the older build, in the cases that it takes part in', () => {
  const { comparisons, leftOut } = compareBuilds(SCENARIO)
  const rates = comparisons.filter(({ count }) => count === undefined)
  expect(rates.map(({ caseName, contestant }) => `${caseName} ${contestant}`)).toEqual([
    'one session',
    'one pool',
    'two session',
  ])
  expect(rates.every(({ contestant, against }) => against === `${contestant}, before`)).toBe(true)
  expect(rates.every(({ atLeast }) => atLeast === 0.95)).toBe(true)
  expect(leftOut).toEqual({ two: ['pool', 'pool, before'] })
})

it('a size may grow by a twentieth', () => {
  const figure = { kind: 'size', operation: 'lock' } as const
  const { comparisons } = compareBuilds({ ...SCENARIO, figure })
  expect(comparisons.every(({ atMost, atLeast }) => atMost === 1.05 && !atLeast)).toBe(true)
})

it('only the process of an older build is told where that is', () => {
  expect(findBuild('session', 'older')).toEqual({ contestant: 'session', environment: {} })
  expect(findBuild('session, before', 'older')).toEqual({
    contestant: 'session',
    environment: { HOLDFAST_BENCH_BUILD: 'older' },
  })
})

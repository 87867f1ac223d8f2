import { describe, expect, it } from 'vitest'
import { readKept, readKeptPlot } from '../../bench/report/kept-results.ts'
import { PLOTTED_GROUPS, renderRatePlot } from '../../bench/report/rate-plot.ts'
import { renderScenario, renderSummary } from '../../bench/report/report.ts'
import type { Comparison, Sample, Scenario } from '../../bench/scenario.ts'
import { type GroupName, SCENARIO_GROUPS } from '../../bench/scenario-list.ts'
import { type ScenarioSummary, summarize } from '../../bench/report/summary.ts'

const GROUPS = Object.keys(SCENARIO_GROUPS) as GroupName[]

const open = (): never => {
  throw new Error('nothing is measured here')
}

/** What the summary makes of ours; it is about the one case that there is. */
type Aim = Omit<Comparison, 'caseName' | 'contestant'>

function createScenario(aim: Aim): Scenario {
  return {
    name: 'race',
    title: 'Two of them.',
    figure: { kind: 'rate', operation: 'cycle' },
    cases: ['one'],
    contestants: { ours: open, theirs: open },
    ours: ['ours'],
    comparisons: [{ caseName: 'one', contestant: 'ours', ...aim }],
  }
}

/** A round of one second at this rate, with a microsecond of CPU time per operation. */
function round(operations: number, counts: Readonly<Record<string, number>> = {}): Sample {
  return { operations, wallMs: 1000, cpuMs: operations / 1000, counts }
}

function summarizeRounds(
  aim: Aim,
  ours: readonly Sample[],
  theirs: readonly Sample[],
): ScenarioSummary {
  const contestants = new Map([
    ['ours', ours],
    ['theirs', theirs],
  ])
  return summarize(createScenario(aim), new Map([['one', contestants]]))
}

describe('the summary of a scenario', () => {
  it('takes ratios within each round, where the machine was the same for both', () => {
    const ours = [round(200), round(20), round(2_000)]
    const theirs = [round(100), round(10), round(1_000)]
    expect(summarizeRounds({ against: 'theirs' }, ours, theirs).verdicts[0]?.value).toBe(2)
  })

  it('shows the median of the rounds and the extremes', () => {
    const [row] = summarizeRounds({}, [round(100), round(900), round(300), round(500)], []).rows
    expect(row).toMatchObject({ value: 400, valueMin: 100, valueMax: 900, cpuUs: 1 })
  })

  it.each([
    ['met', { atLeast: 2 }, true],
    ['missed', { atLeast: 2.01 }, false],
    ['met from above', { atMost: 2 }, true],
    ['missed from above', { atMost: 1.99 }, false],
    ['not set', {}, null],
  ])('says that a target is %s', (_, target, isMet) => {
    const aim = { against: 'theirs', ...target }
    const [verdict] = summarizeRounds(aim, [round(200)], [round(100)]).verdicts
    expect(verdict?.isMet).toBe(isMet)
  })

  it('judges a count by itself', () => {
    const ours = [round(200, { overtakes: 3 })]
    const [verdict] = summarizeRounds({ count: 'overtakes', atMost: 0 }, ours, []).verdicts
    expect(verdict).toMatchObject({ value: 3, isMet: false })
  })

  it('compares counts as it compares rates', () => {
    const aim = { count: 'p50Us', against: 'theirs', atMost: 0.5 }
    const ours = [round(200, { p50Us: 100 })]
    const summary = summarizeRounds(aim, ours, [round(100, { p50Us: 200 })])
    expect(summary.verdicts[0]).toMatchObject({ value: 0.5, isMet: true })
    expect(renderScenario(summary)).toMatch(/\| ours : theirs, p50 µs \| 0\.50 × /)
  })

  it('has no row for somebody who was left out', () => {
    const { rows } = summarizeRounds({}, [round(200)], [])
    expect(rows.map(({ contestant }) => contestant)).toEqual(['ours'])
  })

  it('has no ratio to somebody who did nothing', () => {
    const summary = summarizeRounds({ against: 'theirs', atLeast: 2 }, [round(200)], [round(0)])
    expect(summary.verdicts[0]).toMatchObject({ value: null, isMet: true })
    expect(renderScenario(summary)).toMatch(/\| ours : theirs \| – /)
  })
})

describe('the docs', () => {
  it.each(GROUPS)('show the table of the results that were kept: %s', (group) => {
    const { summary, tables } = readKept(group)
    expect(tables).toBe(renderSummary(summary))
    expect(summary.scenarios.map(({ name }) => name)).toEqual(SCENARIO_GROUPS[group])
  })

  it.each(PLOTTED_GROUPS)('show the plot of the results that were kept: %s', (group) => {
    expect(readKeptPlot(group)).toBe(renderRatePlot(group, readKept(group).summary))
  })
})

import { describe, expect, it } from 'vitest'
import { toFailureText } from '../../src/testing/simulator/failure-text.ts'
import { runSimulation, type SimulationReport } from '../../src/testing/simulator/run-simulation.ts'
import { shrinkFailure } from '../../src/testing/simulator/shrink.ts'
import { PLANTED_BUGS, type PlantedBug } from './planted-bugs.ts'

/** A bug that takes more seeds than this would slip through a working day. */
const SEEDS_MAX = 150

async function find({ open, property }: PlantedBug): Promise<SimulationReport | undefined> {
  for (let seed = 1; seed <= SEEDS_MAX; seed += 1) {
    const report = await runSimulation({ seed, open })
    await new Promise((resolve) => setImmediate(resolve))
    if (report.problem !== undefined && property.test(report.problem.property)) return report
  }
  return undefined
}

describe('the simulator', () => {
  it.each(PLANTED_BUGS)('notices that $name', async (bug) => {
    const report = await find(bug)
    expect(report?.problem?.property).toMatch(bug.property)
  })

  it('makes a failure smaller, and the smaller one happens again', async () => {
    const bug = PLANTED_BUGS.find(({ name }) => name.includes('beside readers')) as PlantedBug
    const report = (await find(bug)) as SimulationReport
    const { plan } = report
    const shrunk = await shrinkFailure({ seed: plan.seed, open: bug.open }, report)
    expect(shrunk.report.problem?.property).toBe(report.problem?.property)
    expect(shrunk.report.plan.faults.size).toBeLessThanOrEqual(plan.faults.size)
    expect(shrunk.report.steps).toBeLessThanOrEqual(report.steps)
    const again = await runSimulation(shrunk.options)
    expect(again.hash).toBe(shrunk.report.hash)
    const text = toFailureText(again, { commit: 'abc1234' })
    expect(text).toContain(`seed ${plan.seed} violates S1w exclusion`)
    expect(text).toContain('abc1234')
  })
})

import { describe, expect, it } from 'vitest'
import { FAULT_KINDS, type FaultKind } from '../../src/testing/simulator/fault-kinds.ts'
import { toFailureText } from '../../src/testing/simulator/failure-text.ts'
import { runSimulation, type SimulationReport } from '../../src/testing/simulator/run-simulation.ts'
import { FAILING_SEEDS } from './failing-seeds.ts'
import { openEmbedded, openWithHistory } from './open-embedded.ts'

const isLong = process.env['HOLDFAST_TEST_DOSE'] === 'long'
const SEEDS = isLong ? 6_000 : 300
const SEEDS_PER_TEST = 50

/** Between two seeds the event loop gets its turn, and a rejection that nobody handled is reported. */
async function run(seed: number): Promise<SimulationReport> {
  const report = await runSimulation({ seed, open: openEmbedded })
  await new Promise((resolve) => setImmediate(resolve))
  return report
}

function expectFine(report: SimulationReport): void {
  expect(report.problem && toFailureText(report)).toBeUndefined()
}

/** What all the seeds of this file together have been through. */
const total = { answered: 0, heard: 0, resets: 0, faults: new Map<FaultKind, number>() }

describe('the embedded engine and the library, simulated', () => {
  const starts = Array.from({ length: SEEDS / SEEDS_PER_TEST }, (_, n) => n * SEEDS_PER_TEST + 1)

  it.each(starts)(`keep every promise for ${SEEDS_PER_TEST} seeds from %i on`, async (start) => {
    for (let seed = start; seed < start + SEEDS_PER_TEST; seed += 1) {
      const report = await run(seed)
      expectFine(report)
      total.answered += report.answered
      total.heard += report.trace.about([' hears '], Infinity).length
      total.resets += report.trace.about([' hears reset'], Infinity).length
      for (const kind of FAULT_KINDS) {
        const count = (total.faults.get(kind) ?? 0) + (report.faults[kind] ?? 0)
        total.faults.set(kind, count)
      }
    }
  })

  it('have been through every fault, and got something done', () => {
    const absent = FAULT_KINDS.filter((kind) => (total.faults.get(kind) ?? 0) < 10)
    expect(absent).toEqual([])
    expect(total.answered).toBeGreaterThan(SEEDS * 30)
    expect(total.resets).toBeGreaterThan(SEEDS / 10)
    expect(total.heard).toBeGreaterThan(total.resets * 10)
  })

  it('keep every promise with a history on the same failing disk', async () => {
    for (let seed = 1; seed <= SEEDS_PER_TEST; seed += 1) {
      expectFine(await runSimulation({ seed, open: openWithHistory }))
      await new Promise((resolve) => setImmediate(resolve))
    }
  })

  it.each(FAILING_SEEDS)(
    'keep every promise for seed $seed, which found: $bug',
    async ({ seed }) => {
      expectFine(await run(seed))
    },
  )
})

describe('a seed', () => {
  it('gives the same trace every time, whatever ran before', async () => {
    const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    const first: string[] = []
    for (const seed of seeds) first.push((await run(seed)).hash)
    const again: string[] = []
    for (const seed of seeds.toReversed()) again.unshift((await run(seed)).hash)
    expect(again).toEqual(first)
    expect(new Set(first).size).toBe(seeds.length)
  })

  it('decides which faults there are, and a run can leave some of them out', async () => {
    const { plan } = await run(1)
    const [kind] = plan.faults
    const without = kind === undefined ? [] : [kind]
    const left = await runSimulation({ seed: 1, open: openEmbedded, without })
    expect([...left.plan.faults]).toEqual([...plan.faults].slice(1))
    expectFine(left)
  })
})

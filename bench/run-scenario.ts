import { findBuild } from './compare-builds.ts'
import { ContestantProcess } from './contestant-process.ts'
import type { Dose, Sample, Scenario } from './scenario.ts'

/** The rounds of each contestant, by case and name; those of one index were measured together. */
export type Rounds = ReadonlyMap<string, ReadonlyMap<string, readonly Sample[]>>

/** Measure every case of a scenario, the contestants taking turns. `before` is the checkout of an older build. */
export async function runScenario(
  scenario: Scenario,
  dose: Dose,
  before?: string,
): Promise<Rounds> {
  const names = Object.keys(scenario.contestants)
  const started = await Promise.allSettled(
    names.map(async (name): Promise<[string, ContestantProcess]> => {
      const options = { scenario: scenario.name, dose: dose.name, ...findBuild(name, before) }
      return [name, await ContestantProcess.start(options)]
    }),
  )
  const processes = new Map(
    started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
  )
  try {
    const failed = started.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    const rounds = new Map<string, Map<string, Sample[]>>()
    for (const caseName of scenario.cases) {
      const plan = { caseName, dose, isOnce: scenario.measuredOnce === true }
      const leftOut = scenario.leftOut?.[caseName] ?? []
      const taking = [...processes].filter(([name]) => !leftOut.includes(name))
      rounds.set(caseName, await runCase(new Map(taking), plan))
    }
    return rounds
  } finally {
    await Promise.all([...processes.values()].map((one) => one.close()))
  }
}

interface CasePlan {
  readonly caseName: string
  readonly dose: Dose
  readonly isOnce: boolean
}

async function runCase(
  processes: ReadonlyMap<string, ContestantProcess>,
  { caseName, dose, isOnce }: CasePlan,
): Promise<Map<string, Sample[]>> {
  const samples = new Map([...processes.keys()].map((name): [string, Sample[]] => [name, []]))
  if (!isOnce) {
    for (const one of processes.values()) {
      await one.measure({ caseName, durationMs: dose.warmUpMs })
    }
  }
  const rounds = isOnce ? 1 : dose.rounds
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, one] of inTurn([...processes], round)) {
      samples.get(name)?.push(await one.measure({ caseName, durationMs: dose.roundMs }))
    }
  }
  return samples
}

/** Another one begins each round, so that nobody always follows the same neighbour. */
function inTurn<T>(items: readonly T[], round: number): T[] {
  const start = round % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}

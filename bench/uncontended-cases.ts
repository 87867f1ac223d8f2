import { createKeys } from './lock-names.ts'
import type { Locker, Lockers } from './contestants/locker.ts'
import type { Contestant, Scenario } from './scenario.ts'
import { runTimedCycles } from './timed-cycles.ts'

export const KEYS = 1024
export const ALONE = '1 worker'
export const SOME = '64 workers'
export const MANY = '256 workers'
export const CONCURRENCY_MAX = 256

const CONCURRENCY: Readonly<Record<string, number>> = {
  [ALONE]: 1,
  [SOME]: 64,
  [MANY]: CONCURRENCY_MAX,
}

export const UNCONTENDED_CASES: readonly string[] = Object.keys(CONCURRENCY)

/** Those whose cycles are long enough to time each of them: over a network, or on a database. */
export function createUncontendedContestants(lockers: Lockers): Scenario['contestants'] {
  return Object.fromEntries(
    Object.entries(lockers).map(([name, openLocker]) => [name, () => open(openLocker)]),
  )
}

async function open(openLocker: () => Promise<Locker>): Promise<Contestant> {
  const locker = await openLocker()
  const keys = createKeys(KEYS)
  return {
    measure: (caseName, durationMs) =>
      runTimedCycles(locker, { keys, concurrency: CONCURRENCY[caseName] ?? 1, durationMs }),
    close: () => locker.close(),
  }
}

import { formatCount } from '../report/format-figures.ts'
import { runHotKey } from '../hot-key-workers.ts'
import type { Locker } from '../contestants/locker.ts'
import { MEMORY_LOCKERS, type MemoryLockerName } from '../contestants/memory-lockers.ts'
import type { Comparison, Contestant, Dose, Scenario } from '../scenario.ts'

const OURS: readonly MemoryLockerName[] = ['engine alone', 'withLock']
/** It has no target; it shows what the machine makes of a long queue. */
const PEER: MemoryLockerName = 'async-mutex'

/** A hand-off costs the same, as far as the caches of the machine and a round's noise allow. */
const AT_LEAST = 0.8

async function open(waiters: number): Promise<Contestant> {
  const opening = [...OURS, PEER].map(async (name) => [name, await MEMORY_LOCKERS[name]()] as const)
  const lockers = new Map<string, Locker>(await Promise.all(opening))
  return {
    measure: (caseName, durationMs) =>
      runHotKey(lockers.get(caseName) as Locker, { waiters, durationMs }),
    close: async () => {
      for (const locker of lockers.values()) await locker.close()
    },
  }
}

export function createScenario({ fewWaiters, manyWaiters }: Dose): Scenario {
  const few = `${formatCount(fewWaiters)} waiters`
  const many = `${formatCount(manyWaiters)} waiters`
  const cases = [...OURS, PEER]
  const compareOurs = (caseName: string): Comparison[] => [
    { caseName, contestant: many, against: few, atLeast: AT_LEAST },
    { caseName, contestant: many, count: 'overtakes', atMost: 0 },
  ]
  return {
    name: 'waiters',
    title:
      'One key with a short and with a long queue. Each hand-off has one release and one new waiter.',
    figure: { kind: 'rate', operation: 'hand-off' },
    cases,
    contestants: { [few]: () => open(fewWaiters), [many]: () => open(manyWaiters) },
    ours: [few, many],
    comparisons: [...OURS.flatMap(compareOurs), { caseName: PEER, contestant: many, against: few }],
  }
}

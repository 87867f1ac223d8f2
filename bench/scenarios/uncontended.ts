import { runCycles } from '../cycle-workers.ts'
import { createKeys } from '../lock-names.ts'
import { MEMORY_LOCKERS, type MemoryLockerName } from '../contestants/memory-lockers.ts'
import type { Comparison, Contestant, Scenario } from '../scenario.ts'

const KEYS = 1024
const CONCURRENCY: Readonly<Record<string, number>> = { '1 worker': 1, '64 workers': 64 }

async function open(name: MemoryLockerName): Promise<Contestant> {
  const locker = await MEMORY_LOCKERS[name]()
  const keys = createKeys(KEYS)
  return {
    measure: (caseName, durationMs) =>
      runCycles(locker, { keys, concurrency: CONCURRENCY[caseName] ?? 1, durationMs }),
    close: () => locker.close(),
  }
}

function compare(caseName: string): Comparison[] {
  return [
    { caseName, contestant: 'withLock', against: 'async-mutex', atLeast: 1 },
    { caseName, contestant: 'withLock', against: 'verrou memory', atLeast: 5 },
    { caseName, contestant: 'acquire, release', against: 'async-mutex' },
    { caseName, contestant: 'engine alone', atLeast: 1_000_000 },
  ]
}

export function createScenario(): Scenario {
  const cases = Object.keys(CONCURRENCY)
  return {
    name: 'uncontended',
    title: `Acquire and release in one process, without contention, over ${KEYS} keys of 30 bytes.`,
    figure: { kind: 'rate', operation: 'cycle' },
    cases,
    contestants: {
      withLock: () => open('withLock'),
      'acquire, release': () => open('acquire, release'),
      'engine alone': () => open('engine alone'),
      'async-mutex': () => open('async-mutex'),
      'verrou memory': () => open('verrou memory'),
    },
    ours: ['withLock', 'acquire, release', 'engine alone'],
    comparisons: cases.flatMap(compare),
  }
}

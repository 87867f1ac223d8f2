import { drainHotKey, runHotKey } from '../hot-key-workers.ts'
import type { Locker } from '../contestants/locker.ts'
import { MEMORY_LOCKERS, type MemoryLockerName } from '../contestants/memory-lockers.ts'
import type { Comparison, Contestant, Sample, Scenario } from '../scenario.ts'

type Measure = (locker: Locker, durationMs: number) => Promise<Sample>

const CASES: Readonly<Record<string, Measure>> = {
  '32, again and again': (locker, durationMs) => runHotKey(locker, { waiters: 32, durationMs }),
  '256, again and again': (locker, durationMs) => runHotKey(locker, { waiters: 256, durationMs }),
  '32, once each': (locker, durationMs) => drainHotKey(locker, { waiters: 32, durationMs }),
  '256, once each': (locker, durationMs) => drainHotKey(locker, { waiters: 256, durationMs }),
}

async function open(name: MemoryLockerName): Promise<Contestant> {
  const locker = await MEMORY_LOCKERS[name]()
  return {
    measure: (caseName, durationMs) => (CASES[caseName] as Measure)(locker, durationMs),
    close: () => locker.close(),
  }
}

function compare(caseName: string): Comparison[] {
  return [
    { caseName, contestant: 'withLock', against: 'async-mutex' },
    { caseName, contestant: 'withLock', against: 'verrou memory' },
    { caseName, contestant: 'withLock', count: 'overtakes', atMost: 0 },
  ]
}

export function createScenario(): Scenario {
  const cases = Object.keys(CASES)
  return {
    name: 'hot-key',
    title:
      'Many workers want one key. A grant overtakes when somebody who asked earlier still waits.',
    figure: { kind: 'rate', operation: 'hand-off' },
    cases,
    contestants: {
      withLock: () => open('withLock'),
      'engine alone': () => open('engine alone'),
      'async-mutex': () => open('async-mutex'),
      'verrou memory': () => open('verrou memory'),
    },
    ours: ['withLock', 'engine alone'],
    comparisons: cases.flatMap(compare),
  }
}

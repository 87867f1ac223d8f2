import {
  AOF_LOCKERS,
  BARE_HTTP,
  BARE_HTTP_LOCKER,
  createAdvisoryLockers,
  DURABLE_SESSION,
  onAof,
  OUR_LOCKERS,
  POST,
  REDIS_LOCKERS,
  SESSION,
} from '../contestants/network-lockers.ts'
import type { Comparison, Scenario } from '../scenario.ts'
import {
  ALONE,
  CONCURRENCY_MAX,
  createUncontendedContestants,
  KEYS,
  MANY,
  SOME,
  UNCONTENDED_CASES,
} from '../uncontended-cases.ts'

const BY_HAND = 'ioredis by hand'
/** A target against the best of them is one against each of them. */
const LOCK_LIBRARIES = ['redlock', 'redis-semaphore', 'verrou'] as const

const LOCKERS = {
  ...OUR_LOCKERS,
  ...BARE_HTTP_LOCKER,
  ...REDIS_LOCKERS,
  ...AOF_LOCKERS,
  ...createAdvisoryLockers(CONCURRENCY_MAX),
}

function compareWithLibraries(ours: Comparison): Comparison[] {
  return LOCK_LIBRARIES.map((against) => ({ ...ours, against }))
}

const COMPARISONS: readonly Comparison[] = [
  { caseName: ALONE, contestant: SESSION, count: 'p50Us', against: BY_HAND, atMost: 1 },
  ...compareWithLibraries({ caseName: SOME, contestant: SESSION, atLeast: 4 }),
  { caseName: SOME, contestant: SESSION, against: BY_HAND },
  ...compareWithLibraries({ caseName: SOME, contestant: DURABLE_SESSION, atLeast: 1 }),
  { caseName: SOME, contestant: DURABLE_SESSION, against: onAof(BY_HAND), atLeast: 2 },
  { caseName: SOME, contestant: POST, against: BARE_HTTP, atLeast: 0.8 },
  ...compareWithLibraries({ caseName: MANY, contestant: DURABLE_SESSION, atLeast: 2 }),
  { caseName: MANY, contestant: DURABLE_SESSION, against: onAof(BY_HAND), atLeast: 2 },
  { caseName: MANY, contestant: SESSION, count: 'serverCpuUs', atMost: 4.5 },
  { caseName: MANY, contestant: DURABLE_SESSION, count: 'serverCpuUs', atMost: 9 },
]

export function createScenario(): Scenario {
  return {
    name: 'network-uncontended',
    title: `Acquire and release over the network, on loopback, without contention, over ${KEYS} keys of 30 bytes. The CPU time is that of the client; every server is a process of its own. For node:http alone a cycle is two requests.`,
    figure: { kind: 'rate', operation: 'cycle' },
    cases: UNCONTENDED_CASES,
    contestants: createUncontendedContestants(LOCKERS),
    ours: Object.keys(OUR_LOCKERS),
    comparisons: COMPARISONS,
  }
}

import { AGAIN, countWorkers, createHotKeyContestants, nameOnceCase } from '../hot-key-cases.ts'
import {
  ADVISORY,
  createAdvisoryLockers,
  DURABLE_SESSION,
  OUR_LOCKERS,
  OUR_LOCKERS_EACH,
  POLLING_LOCKERS,
  SESSION,
  SESSION_EACH,
  TUNED_RETRY_MS,
  tuned,
} from '../contestants/network-lockers.ts'
import { REDIS_LIBRARIES } from '../contestants/redis-lockers.ts'
import type { Comparison, Dose, Scenario } from '../scenario.ts'

function listComparisons(once: string): Comparison[] {
  const polling = REDIS_LIBRARIES.map((library) => ({ against: tuned(library), atLeast: 15 }))
  return [
    { caseName: AGAIN, contestant: SESSION, against: ADVISORY, atLeast: 1.5 },
    ...polling.map((aim) => ({ caseName: AGAIN, contestant: SESSION, ...aim })),
    { caseName: AGAIN, contestant: SESSION, count: 'overtakes', atMost: 0 },
    { caseName: AGAIN, contestant: SESSION_EACH, against: ADVISORY },
    { caseName: AGAIN, contestant: DURABLE_SESSION, against: ADVISORY },
    { caseName: AGAIN, contestant: DURABLE_SESSION, count: 'overtakes', atMost: 0 },
    { caseName: once, contestant: SESSION, count: 'drainMs', against: ADVISORY, atMost: 0.5 },
    { caseName: once, contestant: SESSION, count: 'overtakes', atMost: 0 },
  ]
}

export function createScenario(dose: Dose): Scenario {
  const once = nameOnceCase(dose)
  const lockers = {
    ...OUR_LOCKERS,
    ...OUR_LOCKERS_EACH,
    ...createAdvisoryLockers(countWorkers(dose)),
    ...POLLING_LOCKERS,
  }
  return {
    name: 'network-hot-key',
    title: `Many workers want one key, over the network. A grant overtakes when somebody who asked earlier still waits; the busiest worker has the largest share of the grants. Those who poll do so with the defaults of their library and, tuned, every ${TUNED_RETRY_MS} ms.`,
    figure: { kind: 'rate', operation: 'hand-off' },
    cases: [AGAIN, once],
    contestants: createHotKeyContestants(lockers, dose),
    ours: Object.keys({ ...OUR_LOCKERS, ...OUR_LOCKERS_EACH }),
    comparisons: listComparisons(once),
  }
}

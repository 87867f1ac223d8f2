import { AGAIN, countWorkers, createHotKeyContestants, nameOnceCase } from '../hot-key-cases.ts'
import type { Lockers } from '../contestants/locker.ts'
import type { Comparison, Dose, Scenario } from '../scenario.ts'
import {
  createServerLockers,
  createWaiterLockers,
  FLEET_NODES,
  isOurs,
  nameFleet,
  nameOurs,
  nameOwnLock,
  nameRowLock,
  nameTunedVerrou,
  nameVerrou,
  SERVER_NAMES,
  type ServerName,
  SQL_RETRY_MS,
  SQLITE_LOCKER,
} from '../contestants/sql-lockers.ts'

function createLockers(database: ServerName, dose: Dose): Lockers {
  return {
    ...createServerLockers(database, countWorkers(dose)),
    ...createWaiterLockers(database),
  }
}

function compare(database: ServerName, once: string): Comparison[] {
  const contestant = nameOurs(database)
  const ownLock = nameOwnLock(database)
  return [
    { caseName: AGAIN, contestant, against: nameRowLock(database), atLeast: 10 },
    { caseName: AGAIN, contestant, against: ownLock },
    { caseName: AGAIN, contestant: nameFleet(database), against: nameRowLock(database) },
    { caseName: once, contestant, count: 'drainMs', against: ownLock },
  ]
}

function compareOrder(contestant: string, once: string): Comparison[] {
  return [AGAIN, once].map((caseName) => ({ caseName, contestant, count: 'overtakes', atMost: 0 }))
}

export function createScenario(dose: Dose): Scenario {
  const once = nameOnceCase(dose)
  const lockers: Lockers = Object.assign(
    {},
    ...SERVER_NAMES.map((database) => createLockers(database, dose)),
    SQLITE_LOCKER,
  )
  return {
    name: 'sql-hot-key',
    title: `Many workers want one key, on a database. Our workers are in one program, or spread over ${FLEET_NODES} nodes. Row locks are polled every ${SQL_RETRY_MS} ms, and so is verrou where it is tuned. Where all come once each it takes half a minute and more, and is left out.`,
    figure: { kind: 'rate', operation: 'hand-off' },
    cases: [AGAIN, once],
    contestants: createHotKeyContestants(lockers, dose),
    leftOut: { [once]: SERVER_NAMES.flatMap((name) => [nameVerrou(name), nameTunedVerrou(name)]) },
    ours: Object.keys(lockers).filter(isOurs),
    comparisons: [
      ...SERVER_NAMES.flatMap((database) => compare(database, once)),
      ...[...SERVER_NAMES.map(nameOurs), ...Object.keys(SQLITE_LOCKER)].flatMap((name) =>
        compareOrder(name, once),
      ),
    ],
  }
}

import type { Lockers } from '../contestants/locker.ts'
import type { Comparison, Scenario } from '../scenario.ts'
import {
  createServerLockers,
  isOurs,
  nameOurs,
  nameOwnLock,
  nameRowLock,
  nameVerrou,
  POOLED_CONNECTIONS,
  SERVER_NAMES,
  type ServerName,
  SQLITE_LOCKER,
} from '../contestants/sql-lockers.ts'
import {
  ALONE,
  CONCURRENCY_MAX,
  createUncontendedContestants,
  KEYS,
  MANY,
  SOME,
  UNCONTENDED_CASES,
} from '../uncontended-cases.ts'

const LOCKERS: Lockers = Object.assign(
  {},
  ...SERVER_NAMES.map((database) => createServerLockers(database, CONCURRENCY_MAX)),
  SQLITE_LOCKER,
)

function compare(database: ServerName): Comparison[] {
  const contestant = nameOurs(database)
  const row = nameRowLock(database)
  return [
    { caseName: ALONE, contestant, count: 'p50Us', against: row },
    { caseName: SOME, contestant, against: row, atLeast: 1 },
    { caseName: SOME, contestant, against: nameOwnLock(database) },
    { caseName: SOME, contestant, against: nameVerrou(database) },
    { caseName: MANY, contestant, against: row },
  ]
}

export function createScenario(): Scenario {
  return {
    name: 'sql-uncontended',
    title: `Acquire and release on a database, without contention, over ${KEYS} keys of 30 bytes. The locks that a database has of its own take a connection for each worker, row locks and verrou have ${POOLED_CONNECTIONS} for all. The CPU time is that of the client.`,
    figure: { kind: 'rate', operation: 'cycle' },
    cases: UNCONTENDED_CASES,
    contestants: createUncontendedContestants(LOCKERS),
    ours: Object.keys(LOCKERS).filter(isOurs),
    comparisons: SERVER_NAMES.flatMap(compare),
  }
}

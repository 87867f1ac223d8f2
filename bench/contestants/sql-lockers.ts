/** Those who keep their locks in a database; each has one for itself. */
import { type DatabaseName, openOnDatabase } from './database-server.ts'
import { openFleetLocker } from './fleet-locker.ts'
import type { Locker, Lockers } from './locker.ts'
import type { SqlLockerOptions } from './sql-locker-options.ts'

/** A database that is a server, and has peers of ours on it. */
export type ServerName = Exclude<DatabaseName, 'SQLite'>

interface Peers {
  readonly ownLock: string
  readonly openOwnLock: (url: string, connections: number) => Promise<Locker>
  readonly openRowLock: (url: string, options: Required<SqlLockerOptions>) => Promise<Locker>
}

/** What each database has of its own, and what people make of a row. Loaded when it is opened. */
const PEERS: Readonly<Record<ServerName, Peers>> = {
  PostgreSQL: {
    ownLock: 'PostgreSQL advisory',
    openOwnLock: async (url, connections) => {
      const advisory = await import('../lockers/postgres-advisory-locker.ts')
      return advisory.createPostgresAdvisoryLocker(url, connections)
    },
    openRowLock: async (url, options) => {
      const { openPostgresRowLocker } = await import('../lockers/postgres-row-locker.ts')
      return openPostgresRowLocker(url, options)
    },
  },
  MariaDB: {
    ownLock: 'MariaDB GET_LOCK',
    openOwnLock: async (url, connections) => {
      const getLock = await import('../lockers/mariadb-get-lock-locker.ts')
      return getLock.createMariadbGetLockLocker(url, connections)
    },
    openRowLock: async (url, options) => {
      const { openMariadbRowLocker } = await import('../lockers/mariadb-row-locker.ts')
      return openMariadbRowLocker(url, options)
    },
  },
}

export const SERVER_NAMES: readonly ServerName[] = Object.keys(PEERS) as ServerName[]

/** Chosen by hand from one to twenty milliseconds, with 32 waiters on one key. */
export const SQL_RETRY_MS = 10
export const FLEET_NODES = 4
/**
 * Of those who need a connection only for as long as a statement takes. Chosen by hand, from four on, for
 * 64 workers with row locks.
 */
export const POOLED_CONNECTIONS = 64

export const nameOurs = (database: DatabaseName): string => `Holdfast on ${database}`
export const isOurs = (name: string): boolean => name.startsWith('Holdfast on ')
export const nameFleet = (database: ServerName): string =>
  `${nameOurs(database)}, ${FLEET_NODES} nodes`
export const nameOwnLock = (database: ServerName): string => PEERS[database].ownLock
export const nameRowLock = (database: ServerName): string => `${database} row`
export const nameVerrou = (database: ServerName): string => `verrou on ${database}`
export const nameTunedVerrou = (database: ServerName): string => `${nameVerrou(database)}, tuned`

export const SQLITE_LOCKER: Lockers = createOurLocker('SQLite')

/**
 * Ours and its peers on one server, for so many workers at most. Ours has one `connect` for all of them,
 * as in a program.
 */
export function createServerLockers(database: ServerName, workers: number): Lockers {
  const { openOwnLock, openRowLock } = PEERS[database]
  const row = { connections: POOLED_CONNECTIONS, retryMs: SQL_RETRY_MS }
  return {
    ...createOurLocker(database),
    [nameOwnLock(database)]: () => openOnDatabase(database, (url) => openOwnLock(url, workers)),
    [nameRowLock(database)]: () => openOnDatabase(database, (url) => openRowLock(url, row)),
    [nameVerrou(database)]: () => openVerrou(database, { connections: POOLED_CONNECTIONS }),
  }
}

/** More of them for those who wait: several nodes of ours, and a verrou that asks more often. */
export function createWaiterLockers(database: ServerName): Lockers {
  return {
    [nameFleet(database)]: () =>
      openOnDatabase(database, (url) => openFleetLocker(FLEET_NODES, () => openOurs(url))),
    [nameTunedVerrou(database)]: () =>
      openVerrou(database, { connections: POOLED_CONNECTIONS, retryMs: SQL_RETRY_MS }),
  }
}

function createOurLocker(database: DatabaseName): Lockers {
  return { [nameOurs(database)]: () => openOnDatabase(database, openOurs) }
}

async function openOurs(url: string): Promise<Locker> {
  const { openAcquireLocker } = await import('../lockers/acquire-locker.ts')
  return openAcquireLocker(url)
}

function openVerrou(database: ServerName, options: SqlLockerOptions): Promise<Locker> {
  return openOnDatabase(database, async (url) => {
    const { openVerrouSqlLocker } = await import('../lockers/verrou-sql-locker.ts')
    return openVerrouSqlLocker(url, options)
  })
}

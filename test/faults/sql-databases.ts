import { rm } from 'node:fs/promises'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LockEngine } from '../../src/engine/engine.ts'
import { openSqlEngine, type SqlOptions } from '../../src/engines/sql/open-sql-engine.ts'
import { type DatabaseAddress, openDatabase } from '../engine-process/open-database.ts'
import { startMariadb } from '../services/mariadb.ts'
import { startPostgres } from '../services/postgres.ts'
import type { Service } from '../services/service.ts'

/** A kind of database server that can be harmed. What it has acknowledged is on its disk. */
export interface SqlServerKind {
  readonly name: 'postgres' | 'mysql'
  start(): Promise<Service>
}

export const POSTGRES: SqlServerKind = {
  name: 'postgres',
  start: () => startPostgres({ isDurable: true }),
}
export const MYSQL: SqlServerKind = {
  name: 'mysql',
  start: () => startMariadb({ isDurable: true }),
}
export const SQL_SERVERS: readonly SqlServerKind[] = [POSTGRES, MYSQL]

/** A database that is there for one test. */
export interface TestDatabase {
  readonly address: DatabaseAddress
  /** Absent for a file. */
  readonly service?: Service
  remove(): Promise<void>
}

export const DATABASES: readonly { name: string; create(): Promise<TestDatabase> }[] = [
  { name: 'sqlite', create: createDatabaseFile },
  ...SQL_SERVERS.map((kind) => ({ name: kind.name, create: () => createDatabase(kind) })),
]

async function createDatabase(kind: SqlServerKind): Promise<TestDatabase> {
  const service = await kind.start()
  return { service, address: addressOf(kind, service), remove: () => service.stop() }
}

/** How much is done: a little in every run, a lot where there is time. */
export const IS_LONG: boolean = process.env['HOLDFAST_TEST_DOSE'] === 'long'
export const SEED: string = process.env['HOLDFAST_SEED'] ?? String(Date.now() % 1_000_000)

export function addressOf({ name }: SqlServerKind, { url }: { url: string }): DatabaseAddress {
  return { kind: name, where: url }
}

/** The same database by way of another port. */
export function throughPort(address: DatabaseAddress, port: number): DatabaseAddress {
  const url = new URL(address.where)
  url.port = String(port)
  return { ...address, where: url.href }
}

export function openEngine(address: DatabaseAddress, options?: SqlOptions): Promise<LockEngine> {
  return openSqlEngine(() => openDatabase(address), options)
}

async function createDatabaseFile(): Promise<TestDatabase> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-'))
  return {
    address: { kind: 'sqlite', where: join(directory, 'locks.db') },
    remove: () => rm(directory, { recursive: true }),
  }
}

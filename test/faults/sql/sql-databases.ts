import type { LockEngine } from '../../../src/engine/engine.ts'
import { openMysql } from '../../../src/engines/sql/mysql/open-mysql.ts'
import { openSqlEngine, type SqlOptions } from '../../../src/engines/sql/open-sql-engine.ts'
import { openPostgres } from '../../../src/engines/sql/postgres/open-postgres.ts'
import { type DatabaseAddress, openDatabase } from '../../engine-process/open-database.ts'
import { SQLITE, startDatabases, type TestServer } from '../../engines/sql/test-servers.ts'
import { startMariadb } from '../../services/mariadb.ts'
import { startPostgres } from '../../services/postgres.ts'
import { type DatabaseOptions, OWN, type Service } from '../../services/service.ts'

/** How much is done: a little in every run, a lot where there is time. */
export const IS_LONG: boolean = process.env['HOLDFAST_TEST_DOSE'] === 'long'
export const SEED: string = process.env['HOLDFAST_SEED'] ?? String(Date.now() % 1_000_000)

/** Where databases come from that are harmed: servers of our own. What they have acknowledged is on disk. */
export interface SqlKind {
  readonly name: DatabaseAddress['kind']
  start(options?: DatabaseOptions): Promise<TestServer>
}

export const POSTGRES: SqlKind = {
  name: 'postgres',
  start: async (options) =>
    startDatabases(await startPostgres({ ...OWN, isDurable: true, ...options }), openPostgres),
}

const MYSQL: SqlKind = {
  name: 'mysql',
  start: async (options) =>
    startDatabases(await startMariadb({ ...OWN, isDurable: true, ...options }), openMysql),
}

export const SQL_SERVERS: readonly SqlKind[] = [POSTGRES, MYSQL]
export const DATABASES: readonly SqlKind[] = [SQLITE, ...SQL_SERVERS]

/** A server and what is done to it. */
export class HarmedServer {
  readonly kind: SqlKind
  readonly #server: TestServer

  private constructor(kind: SqlKind, server: TestServer) {
    this.kind = kind
    this.#server = server
  }

  static async start(kind: SqlKind, options?: DatabaseOptions): Promise<HarmedServer> {
    return new HarmedServer(kind, await kind.start(options))
  }

  /** Its process; there is none for files. */
  get service(): Service {
    const { service } = this.#server
    if (service === undefined) throw new Error(`${this.kind.name} has no process of its own`)
    return service
  }

  get isProcess(): boolean {
    return this.#server.service !== undefined
  }

  /** An empty database. */
  async create(): Promise<DatabaseAddress> {
    return { kind: this.kind.name, where: await this.#server.create() }
  }

  stop(): Promise<void> {
    return this.#server.stop()
  }
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

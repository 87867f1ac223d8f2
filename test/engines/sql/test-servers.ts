import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { openMysql } from '../../../src/engines/sql/mysql/open-mysql.ts'
import { openPostgres } from '../../../src/engines/sql/postgres/open-postgres.ts'
import type { SqlDatabase } from '../../../src/engines/sql/sql-dialect.ts'
import { openSqlite } from '../../../src/engines/sql/sqlite/open-sqlite.ts'
import { startMariadb } from '../../services/mariadb.ts'
import { startPostgres } from '../../services/postgres.ts'
import { createGivenService, type Service } from '../../services/service.ts'

/** Where databases come from, for as long as a test file runs. */
export interface TestServer {
  /** Absent for files. */
  readonly service?: Service
  /** An empty database: its address, or its file. */
  create(): Promise<string>
  /** Removes its databases and everything else. */
  stop(): Promise<void>
}

export interface ServerKind {
  readonly name: SqlDatabase['dialect']['name']
  start(): Promise<TestServer>
  /** Opens an address or a file that `create` gave. */
  open(where: string): Promise<SqlDatabase>
}

export const SQLITE: ServerKind = { name: 'sqlite', start: startFiles, open: openSqlite }

const sharePostgres = shareService(startPostgres)
const shareMariadb = shareService(startMariadb)

export const POSTGRES: ServerKind = {
  name: 'postgres',
  start: async () => startDatabases(await sharePostgres(), openPostgres),
  open: openPostgres,
}

export const MYSQL: ServerKind = {
  name: 'mysql',
  start: async () => startDatabases(await shareMariadb(), openMysql),
  open: openMysql,
}

/** The same server for all test files that this process runs. It ends with the process. */
function shareService(start: () => Promise<Service>): () => Promise<Service> {
  let started: Promise<Service> | undefined
  return async () => {
    started ??= start()
    return createGivenService((await started).url)
  }
}

async function startFiles(): Promise<TestServer> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-'))
  return {
    create: async () => join(directory, `${randomUUID()}.db`),
    stop: () => rm(directory, { recursive: true }),
  }
}

/** Databases on a server, which is stopped with them. */
export async function startDatabases(
  service: Service,
  open: ServerKind['open'],
): Promise<TestServer> {
  const names: string[] = []
  const run = async (statement: string): Promise<void> => {
    const administrator = await open(service.url)
    await sql.raw(statement).execute(administrator.db)
    await administrator.close()
  }
  return {
    service,
    async create(): Promise<string> {
      const name = `holdfast_${randomUUID().replaceAll('-', '')}`
      await run(`create database ${name}`)
      names.push(name)
      const url = new URL(service.url)
      url.pathname = `/${name}`
      return url.href
    },
    async stop(): Promise<void> {
      // What is ours goes as a whole; on a server that others use too nothing of ours may stay.
      if (service.own === undefined)
        for (const name of names) await run(`drop database if exists ${name}`)
      await service.stop()
    },
  }
}

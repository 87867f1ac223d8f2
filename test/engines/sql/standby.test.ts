import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openMysql } from '../../../src/engines/sql/mysql/open-mysql.ts'
import { openSqlEngine } from '../../../src/engines/sql/open-sql-engine.ts'
import { openPostgres } from '../../../src/engines/sql/postgres/open-postgres.ts'
import type { SqlDatabase } from '../../../src/engines/sql/sql-dialect.ts'
import type { SqlEngine } from '../../../src/engines/sql/sql-engine.ts'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'
import { startMariadb } from '../../services/mariadb.ts'
import { startPostgres } from '../../services/postgres.ts'
import { OWN, type Service } from '../../services/service.ts'

const START_MS_MAX = 60_000
const patience = new Patience(60_000)

/** Ours are those of a user without rights of an administrator, who could write all the same. */
const SERVERS = [
  {
    name: 'postgres',
    start: startPostgres,
    open: openPostgres,
    prepare: ['create role plain login', 'create database plain owner plain'],
    demote: ['alter system set default_transaction_read_only = on', 'select pg_reload_conf()'],
    promote: ['alter system set default_transaction_read_only = off', 'select pg_reload_conf()'],
    sessions: `select pid as id from pg_stat_activity
      where usename = 'plain' and query not like 'listen%' and query <> 'select 1'`,
  },
  {
    name: 'mysql',
    start: startMariadb,
    open: openMysql,
    prepare: [
      'create database plain',
      "create user plain@'%'",
      "grant all privileges on plain.* to plain@'%'",
    ],
    demote: ['set global read_only = 1'],
    promote: ['set global read_only = 0'],
    sessions: `select id from information_schema.processlist where user = 'plain'`,
  },
] as const

describe.each(SERVERS)('a server of $name that only reads for a while', (kind) => {
  let service: Service
  let administrator: SqlDatabase
  let engine: SqlEngine

  const order = async (statements: readonly string[]): Promise<void> => {
    for (const one of statements) await sql.raw(one).execute(administrator.db)
  }

  async function listSessions(): Promise<number[]> {
    const { rows } = await sql.raw<{ id: number }>(kind.sessions).execute(administrator.db)
    return rows.map(({ id }) => id)
  }

  beforeAll(async () => {
    service = await kind.start(OWN)
    administrator = await kind.open(service.url)
    await order(kind.prepare)
    const url = new URL(service.url)
    url.username = 'plain'
    url.pathname = '/plain'
    engine = await openSqlEngine(() => kind.open(url.href))
  }, START_MS_MAX)

  afterAll(async () => {
    await engine.close()
    await administrator.close()
    await service.stop()
  })

  it('is looked for anew, and does what it was asked when it writes again', async () => {
    const key = 'k'
    const asked = { kind: 'acquire', key, owner: 'a', requestId: '1' } as const
    expect((await engine.apply(asked)).kind).toBe('granted')
    const before = await listSessions()
    expect(before).not.toEqual([])
    await order(kind.demote)
    const release = engine.apply({ kind: 'release', key, owner: 'a' })
    const areGone = async (): Promise<boolean> =>
      !(await listSessions()).some((id) => before.includes(id))
    await patience.until(areGone, 'its connections are given up')
    await order(kind.promote)
    expect((await patience.answer(release, 'it is done')).kind).toBe('released')
  })
})

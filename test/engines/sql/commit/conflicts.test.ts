import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../../src/engine/engine.ts'
import { openSqlEngine } from '../../../../src/engines/sql/open-sql-engine.ts'
import type { Connection, SqlDatabase } from '../../../../src/engines/sql/sql-dialect.ts'
import { MYSQL, POSTGRES } from '../test-servers.ts'
import { useServer } from '../use-server.ts'

/** What a server says to one of two transactions that stood in each other's way. */
const CONFLICTS = [
  { kind: POSTGRES, what: 'a serialization failure', code: '40001' },
  { kind: POSTGRES, what: 'a deadlock', code: '40P01' },
  { kind: POSTGRES, what: 'a lock that was not available', code: '55P03' },
  { kind: POSTGRES, what: 'a statement that took too long', code: '57014' },
  { kind: MYSQL, what: 'a deadlock', code: '1213' },
  { kind: MYSQL, what: 'a lock wait that took too long', code: '1205' },
  { kind: MYSQL, what: 'a record that has changed', code: '1020' },
  { kind: MYSQL, what: 'rows that another member of a group has changed', code: '3101' },
  { kind: MYSQL, what: 'a member that its cluster has left behind', code: '1047' },
] as const

/** Where in a transaction it happens: while the key is being locked, and with the commit. */
const MOMENTS = ['holdfast_keys', 'holdfast_holds'] as const

interface Trap {
  /** How often something came by. */
  count(): Promise<number>
}

/** The first row of a table is refused, and what counts that survives the rollback. */
const TRAPS = {
  postgres: async (db: Connection, table: string, code: string): Promise<Trap> => {
    await run(db, [
      'create sequence passers',
      `create function refuse_first() returns trigger language plpgsql as $$ begin
        if nextval('passers') = 1 then raise exception 'in the way' using errcode = '${code}'; end if;
        return new;
      end $$`,
      `create trigger trap before insert on ${table} for each row execute function refuse_first()`,
    ])
    return { count: () => readCount(db, 'select last_value as count from passers') }
  },
  mysql: async (db: Connection, table: string, code: string): Promise<Trap> => {
    await run(db, [
      'create table passers (id integer) engine=MyISAM',
      `create trigger trap before insert on ${table} for each row begin
        insert into passers values (1);
        if (select count(*) from passers) = 1 then
          signal sqlstate '45000' set mysql_errno = ${code};
        end if;
      end`,
    ])
    return { count: () => readCount(db, 'select count(*) as count from passers') }
  },
}

async function run(db: Connection, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

async function readCount(db: Connection, query: string): Promise<number> {
  const { rows } = await sql.raw<{ count: number }>(query).execute(db)
  return Number(rows[0]?.count)
}

describe.each([POSTGRES, MYSQL])('on $name', (kind) => {
  const server = useServer(kind)
  let engine: LockEngine
  let administrator: SqlDatabase

  beforeEach(async () => {
    const where = await server.create()
    engine = server.closing(await openSqlEngine(() => kind.open(where)))
    administrator = server.closing(await kind.open(where))
  })
  const cases = CONFLICTS.filter((one) => one.kind === kind).flatMap(({ what, code }) =>
    MOMENTS.map((table) => ({ what, code, table })),
  )

  it.each(cases)(
    '$what ($code) at $table is no answer: the request is tried again and counts once',
    async ({ code, table }) => {
      const trap = await TRAPS[kind.name as keyof typeof TRAPS](administrator.db, table, code)
      const outcome = await engine.apply({ kind: 'acquire', key: 'k', owner: 'a', requestId: '1' })
      expect(outcome).toMatchObject({ kind: 'granted', writes: 1 })
      expect(await trap.count()).toBeGreaterThan(1)
      const { holders } = await engine.read({ kind: 'inspect', key: 'k' })
      expect(holders).toMatchObject([{ owner: 'a', writes: 1 }])
    },
  )
})

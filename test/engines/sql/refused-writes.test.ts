import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { openSqlEngine } from '../../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../../src/engines/sql/sql-dialect.ts'
import { MYSQL, POSTGRES, SQLITE } from './test-servers.ts'
import { useServer } from './use-server.ts'

/** As an operator would who has something against an owner, or as a disk would that takes small rows only. */
async function refuseOwner({ db, dialect }: SqlDatabase, owner: string): Promise<void> {
  const check = `alter table holdfast_holds add constraint no_such check (owner <> '${owner}')`
  const trigger = `create trigger no_such before insert on holdfast_holds
    when new.owner = '${owner}' begin select raise(abort, 'no such owner'); end`
  await sql.raw(dialect.name === 'sqlite' ? trigger : check).execute(db)
}

describe.each([SQLITE, POSTGRES, MYSQL])('what $name refuses to write', (kind) => {
  const server = useServer(kind)

  it('did not happen, is said so, and takes nobody with it who shared its transaction', async () => {
    const where = await server.create()
    const engine = server.closing(await openSqlEngine(() => kind.open(where)))
    const other = server.closing(await kind.open(where))
    await refuseOwner(other, 'refused')
    const ends = await Promise.allSettled(
      ['a', 'refused', 'b'].map((owner) =>
        engine.apply({ kind: 'acquire', key: `k/${owner}`, owner, requestId: 'r' }),
      ),
    )
    expect(ends).toMatchObject([
      { status: 'fulfilled', value: { kind: 'granted' } },
      { status: 'rejected', reason: { code: 'LOCK_STORAGE_FAILED', applied: 'no' } },
      { status: 'fulfilled', value: { kind: 'granted' } },
    ])
    expect(await engine.read({ kind: 'inspect', key: 'k/refused' })).toMatchObject({ holders: [] })
  })
})

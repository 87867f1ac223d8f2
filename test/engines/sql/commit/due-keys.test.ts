import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../../src/engine/engine.ts'
import { openSqlEngine } from '../../../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../../../src/engines/sql/sql-dialect.ts'
import { holdOpen } from './row-locks.ts'
import { MYSQL, POSTGRES, type ServerKind } from '../test-servers.ts'
import { useServer } from '../use-server.ts'

const TTL_MS = 500
/** Far longer than it takes, and far shorter than anybody would stand in the way. */
const WAIT_MS = 60_000

describe.each([POSTGRES, MYSQL])('what is due on $name', (kind: ServerKind) => {
  const server = useServer(kind)
  let database: SqlDatabase
  let engine: LockEngine

  beforeEach(async () => {
    const where = await server.create()
    engine = server.closing(await openSqlEngine(() => kind.open(where)))
    database = server.closing(await kind.open(where))
  })

  const acquire = async (key: string): Promise<unknown> =>
    engine.apply({ kind: 'acquire', key, owner: 'a', requestId: '1', ttlMs: TTL_MS })

  it('ends although another process is at a key that is due as well', async () => {
    await acquire('theirs')
    await acquire('ours')
    const waiting = engine.apply({
      kind: 'acquire',
      key: 'ours',
      owner: 'b',
      requestId: '1',
      waitMs: WAIT_MS,
    })
    const held = server.closing(
      await holdOpen(database, (db) =>
        sql`select id from holdfast_keys where space = 'lock' and name = 'theirs' for update`.execute(
          db,
        ),
      ),
    )
    expect(await waiting).toMatchObject({ kind: 'granted' })
    await held.close()
    const left = async (): Promise<number> =>
      (await engine.read({ kind: 'inspect', key: 'theirs' })).holders.length
    expect(await left()).toBe(0)
  })
})

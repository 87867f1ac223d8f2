import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { openSqlEngine } from '../../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../../src/engines/sql/sql-dialect.ts'
import type { Outcome } from '../../../src/law/model/outcomes.ts'
import { createStillClock } from './commit/guessing-process.ts'
import { holdOpen, waitUntilBlocked } from './commit/row-locks.ts'
import { MYSQL, POSTGRES, type ServerKind } from './test-servers.ts'
import { useServer } from './use-server.ts'

const GRACE_MS = 5_000
const TTL_MS = 60_000
const NOW_MS = 1_000_000

describe.each([POSTGRES, MYSQL])(
  'a session whose client is silent, on $name,',
  (kind: ServerKind) => {
    const server = useServer(kind)
    let database: SqlDatabase
    /** Of two processes, neither of which does anything by itself. */
    let here: LockEngine
    let there: LockEngine
    let nowMs: number

    beforeEach(async () => {
      nowMs = NOW_MS
      const where = await server.create()
      const options = { clock: createStillClock(() => nowMs), isClockOurs: true }
      here = server.closing(await openSqlEngine(() => kind.open(where), options))
      there = server.closing(await openSqlEngine(() => kind.open(where), options))
      database = server.closing(await kind.open(where))
      await here.apply({ kind: 'open-session', session: 's', graceMs: GRACE_MS })
    })

    const acquire = async (engine: LockEngine, key = 'k'): Promise<Outcome> =>
      engine.apply({
        kind: 'acquire',
        key,
        owner: 'a',
        requestId: key,
        session: 's',
        ttlMs: TTL_MS,
      })
    const touch = async (engine: LockEngine): Promise<Outcome> =>
      engine.apply({ kind: 'touch-session', session: 's' })
    const holders = async (key = 'k'): Promise<string[]> =>
      (await there.read({ kind: 'inspect', key })).holders.map(({ owner }) => owner)

    async function dueAtMs(): Promise<number | undefined> {
      const { rows } = await sql<{ due: number }>`
      select due_at_ms as due from holdfast_sessions where id = 's'`.execute(database.db)
      return rows[0] === undefined ? undefined : Number(rows[0].due)
    }

    it('is looked at again when its last lease runs out, counted from the last heartbeat', async () => {
      await acquire(here)
      nowMs += 2_000
      await touch(here)
      await acquire(here, 'other')
      nowMs += GRACE_MS
      await there.apply({ kind: 'sweep' })
      expect(await dueAtMs()).toBe(NOW_MS + 2_000 + TTL_MS)
      nowMs = NOW_MS + 2_000 + TTL_MS
      await there.apply({ kind: 'sweep' })
      expect(await dueAtMs()).toBeUndefined()
      expect(await holders()).toEqual([])
    })

    it('goes on if a heartbeat arrives while another process looks at it', async () => {
      nowMs += GRACE_MS
      const beating = server.closing(
        await holdOpen(database, (db) => {
          const times = sql`heard_at_ms = ${nowMs}, due_at_ms = ${nowMs + GRACE_MS}`
          return sql`update holdfast_sessions set ${times}`.execute(db)
        }),
      )
      const sweeping = there.apply({ kind: 'sweep' })
      await waitUntilBlocked(database, 1)
      await beating.close()
      await sweeping
      expect(await dueAtMs()).toBe(nowMs + GRACE_MS)
      expect(await touch(here)).toEqual({ kind: 'session-touched' })
    })

    it('goes on if it is granted a lock while another process looks at it', async () => {
      await here.apply({ kind: 'acquire', key: 'k', owner: 'a', requestId: '1', ttlMs: TTL_MS })
      nowMs += GRACE_MS
      // As a transaction that grants does it: the session cannot end meanwhile.
      const granting = server.closing(
        await holdOpen(database, async (db) => {
          const lock = sql.raw(database.dialect.forShare)
          await sql`select id from holdfast_sessions where id = 's' ${lock}`.execute(db)
          await sql`update holdfast_holds set session = 's'`.execute(db)
        }),
      )
      const sweeping = there.apply({ kind: 'sweep' })
      await waitUntilBlocked(database, 1)
      await granting.close()
      await sweeping
      expect(await dueAtMs()).toBe(NOW_MS + TTL_MS)
      expect(await holders()).toEqual(['a'])
    })

    it('grants nothing without a hold, although no process has looked at it', async () => {
      nowMs += GRACE_MS
      expect(await acquire(here)).toMatchObject({ kind: 'refused', code: 'no_session' })
    })

    it('grants more while it has a hold, although no process has looked at it', async () => {
      await acquire(here)
      nowMs += GRACE_MS
      expect(await acquire(here, 'other')).toMatchObject({ kind: 'granted' })
      nowMs += GRACE_MS
      await there.apply({ kind: 'sweep' })
      expect(await holders('other')).toEqual(['a'])
    })

    it('loses its places in the queues before anything else is decided there', async () => {
      const wait = { kind: 'acquire', key: 'busy', waitMs: 60_000, detach: true } as const
      await here.apply({ kind: 'acquire', key: 'busy', owner: 'x', requestId: '1', ttlMs: TTL_MS })
      await here.apply({ ...wait, owner: 'a', requestId: '1', session: 's' })
      await here.apply({ ...wait, owner: 'b', requestId: '1' })
      nowMs += GRACE_MS
      await there.apply({ kind: 'release', key: 'busy', owner: 'x' })
      expect(await holders('busy')).toEqual(['b'])
    })

    it('is ended by another process if the one that was ending it died', async () => {
      await acquire(here)
      await sql`update holdfast_sessions set ended = 1`.execute(database.db)
      await there.apply({ kind: 'sweep' })
      expect(await dueAtMs()).toBeUndefined()
      expect(await holders()).toEqual([])
    })

    it('has its leases run on where the server that heard it is gone, and renewed by another', async () => {
      await acquire(here)
      await here.close()
      nowMs += TTL_MS - 1
      expect(await touch(there)).toEqual({ kind: 'session-touched' })
      nowMs += TTL_MS - 1
      expect(await holders()).toEqual(['a'])
      nowMs += 1
      expect(await holders()).toEqual([])
    })
  },
)

import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openWorkflowLeases } from '../../src/workflow/open-workflow-leases.ts'
import type { WorkflowLeases } from '../../src/workflow/workflow-leases.ts'
import { MYSQL, POSTGRES, SQLITE } from '../engines/sql/test-servers.ts'
import { useServer } from '../engines/sql/use-server.ts'
import { WorkflowRig } from './workflow-rig.ts'

const KEY = 'node:123:fetch'
const START_MS_MAX = 120_000
const DAY_MS = 86_400_000
const isLong = process.env['HOLDFAST_TEST_DOSE'] === 'long'

const page = readFileSync(new URL('../../docs/workflow.md', import.meta.url), 'utf8')

/** How the page says that a month is dropped by hand. */
const DROPS = {
  sqlite: /^delete from workflow_assignments .*;$/m,
  postgres: /^drop table workflow_assignments_2026_08;$/m,
  mysql: /^alter table workflow_assignments drop .*;$/m,
} as const

/** What the database itself says of where assignments are. */
const PLACES = {
  postgres: sql<{ place: string }>`
    select tableoid::regclass::text as place from workflow_assignments order by assigned_at`,
  mysql: sql<{ place: string }>`
    select partition_name as place from information_schema.partitions
    where table_schema = database() and table_name = 'workflow_assignments' and table_rows > 0
    order by partition_ordinal_position`,
} as const

/** How many places there are, the one for all later months included. */
const COUNTS = {
  postgres: sql<{ count: number }>`
    select count(*)::int as count from pg_inherits
    where inhparent = 'workflow_assignments'::regclass`,
  mysql: sql<{ count: number }>`
    select count(*) as count from information_schema.partitions
    where table_schema = database() and table_name = 'workflow_assignments'`,
} as const

describe.each([SQLITE, POSTGRES, MYSQL])('assignments on $name', (kind) => {
  const server = useServer(kind)
  let rig: WorkflowRig
  let leases: WorkflowLeases

  beforeEach(async () => {
    rig = new WorkflowRig(kind, await server.create())
    leases = await rig.openLeases()
  }, START_MS_MAX)
  afterEach(() => rig.close())

  it('say who was assigned what, when, and that it was given back', async () => {
    const assigned = rig.nowMs
    await leases.acquireLock(KEY, 'a', 'node', 1_000)
    rig.clock.leap(500)
    await leases.renewLock(KEY, 'a', 2_000)
    rig.clock.leap(500)
    await leases.releaseLock(KEY, 'a')
    expect(await rig.listAssignments()).toEqual([
      {
        lock_key: KEY,
        owner: 'a',
        lock_type: 'node',
        token: 1,
        assigned,
        expires: assigned + 2_500,
        renewals: 1,
        ended: assigned + 1_000,
        ended_as: 'released',
      },
    ])
  })

  it('end when their lease did, as is noted when somebody takes over', async () => {
    const assigned = rig.nowMs
    await leases.acquireLock(KEY, 'a', 'node', 1_000)
    rig.clock.leap(5_000)
    expect(await leases.acquireLock(KEY, 'b', 'node', 1_000)).toBe(true)
    expect(await rig.listAssignments()).toMatchObject([
      { owner: 'a', token: 1, ended: assigned + 1_000, ended_as: 'expired' },
      { owner: 'b', token: 2, assigned: assigned + 5_000, ended: null, ended_as: null },
    ])
  })

  it('end when their lease did, as is noted by a clean-up', async () => {
    const assigned = rig.nowMs
    await leases.acquireLock(KEY, 'a', 'node', 1_000)
    rig.clock.leap(5_000)
    expect(await leases.cleanupExpiredLocks()).toBe(1)
    expect(await rig.listAssignments()).toMatchObject([
      { owner: 'a', ended: assigned + 1_000, ended_as: 'expired' },
    ])
  })

  it.each([
    ['an operator ends the hold', 'forced', { kind: 'force', key: KEY }],
    ['it is given back in another way', 'released', { kind: 'release', key: KEY, owner: 'a' }],
  ] as const)('end when %s', async (_, how, command) => {
    const engine = await rig.openEngine()
    await leases.acquireLock(KEY, 'a', 'node', 10_000)
    rig.clock.leap(1_000)
    const ended = rig.nowMs
    await engine.apply(command)
    rig.clock.leap(20_000)
    await leases.acquireLock(KEY, 'b', 'node', 10_000)
    expect(await rig.listAssignments()).toMatchObject([
      { owner: 'a', ended, ended_as: how },
      { owner: 'b', ended: null },
    ])
  })

  it('do not end while somebody renews the hold in another way', async () => {
    const engine = await rig.openEngine()
    await leases.acquireLock(KEY, 'a', 'node', 1_000)
    await engine.apply({ kind: 'renew', key: KEY, owner: 'a', ttlMs: 60_000 })
    rig.clock.leap(5_000)
    expect(await leases.cleanupExpiredLocks()).toBe(0)
    expect(await leases.releaseLock(KEY, 'a')).toBe(true)
    expect(await rig.listAssignments()).toMatchObject([{ ended_as: 'released' }])
  })

  it('are not made for those who do not get the lock', async () => {
    await leases.acquireLock(KEY, 'a', 'node', 1_000)
    await leases.acquireLock(KEY, 'b', 'node', 1_000)
    await leases.acquireLock(KEY, 'a', 'node', 1_000)
    await leases.renewLock(KEY, 'b', 1_000)
    await leases.releaseLock(KEY, 'b')
    expect(await rig.listAssignments()).toMatchObject([{ owner: 'a', renewals: 0, ended: null }])
  })

  it('stand and fall with the lock: without a place for them nobody gets one', async () => {
    await rig.query(sql`alter table workflow_assignments rename to elsewhere`)
    await expect(leases.acquireLock(KEY, 'a', 'node', 1_000)).rejects.toMatchObject({
      code: 'LOCK_STORAGE_FAILED',
      applied: 'no',
    })
    expect(await leases.checkLock(KEY)).toBeNull()
    await rig.query(sql`alter table elsewhere rename to workflow_assignments`)
    expect(await leases.acquireLock(KEY, 'a', 'node', 1_000)).toBe(true)
  })

  it('stand and fall with the lock: one that cannot be given back is not noted as given back', async () => {
    await leases.acquireLock(KEY, 'a', 'node', 1_000)
    await rig.query(sql`alter table holdfast_history rename to elsewhere`)
    await expect(leases.releaseLock(KEY, 'a')).rejects.toMatchObject({ applied: 'no' })
    expect(await rig.listAssignments()).toMatchObject([{ owner: 'a', ended: null }])
    expect((await leases.checkLock(KEY))?.owner).toBe('a')
  })

  it('of months that are over can be dropped, and locks that are held stay held', async () => {
    await leases.acquireLock('node:august', 'a', 'node', DAY_MS)
    rig.clock.leap(31 * DAY_MS)
    await leases.acquireLock('node:september', 'a', 'node', DAY_MS)
    rig.clock.leap(30 * DAY_MS)
    await leases.acquireLock('node:october', 'a', 'node', DAY_MS)
    expect(await leases.dropAssignmentsBefore(new Date(Date.UTC(2026, 7, 31)))).toEqual([])
    expect(await leases.dropAssignmentsBefore(new Date(Date.UTC(2026, 8, 1)))).toEqual(['2026-08'])
    const names = async () => (await rig.listAssignments()).map(({ lock_key: key }) => key)
    expect(await names()).toEqual(['node:september', 'node:october'])
    expect(await leases.dropAssignmentsBefore(new Date(Date.UTC(2030, 1, 1)))).toEqual(['2026-09'])
    expect(await names()).toEqual(['node:october'])
    expect(await leases.releaseLock('node:october', 'a')).toBe(true)
    await expect(leases.dropAssignmentsBefore(new Date(NaN))).rejects.toMatchObject({
      code: 'LOCK_INVALID_ARGUMENT',
    })
  })

  it('of months that are over are dropped once, however many drop and make months together', async () => {
    await leases.acquireLock('node:august', 'a', 'node', DAY_MS)
    const others = await Promise.all(Array.from({ length: 4 }, () => rig.openLeases()))
    rig.clock.leap(61 * DAY_MS)
    const asked = others.map((one, n) => one.acquireLock(`node:${n}`, 'a', 'node', DAY_MS))
    const dropping = others.map((one) => one.dropAssignmentsBefore(new Date(rig.nowMs)))
    expect(await Promise.all(asked)).toEqual(others.map(() => true))
    const dropped = (await Promise.all(dropping)).flat()
    expect(dropped.filter((month) => month === '2026-08')).toEqual(['2026-08'])
    expect(await rig.listAssignments()).toHaveLength(others.length)
  })

  it.runIf(isLong && kind.name !== 'sqlite')(
    'of months that somebody goes on reading stay, and those who come after are not kept waiting',
    async () => {
      await leases.acquireLock('node:august', 'a', 'node', DAY_MS)
      rig.clock.leap(61 * DAY_MS)
      await rig.readWhile(async () => {
        await expect(leases.dropAssignmentsBefore(new Date(rig.nowMs))).rejects.toMatchObject({
          code: 'LOCK_ENGINE_UNAVAILABLE',
          retryable: true,
        })
        expect(await leases.acquireLock('node:october', 'a', 'node', DAY_MS)).toBe(true)
      })
      expect(await rig.listAssignments()).toHaveLength(2)
      expect(await leases.dropAssignmentsBefore(new Date(rig.nowMs))).toContain('2026-08')
    },
    60_000,
  )

  it('of a month are dropped by the statement on the page', async () => {
    await leases.acquireLock('node:august', 'a', 'node', DAY_MS)
    rig.clock.leap(31 * DAY_MS)
    await leases.acquireLock('node:september', 'a', 'node', DAY_MS)
    await rig.query(sql.raw((DROPS[kind.name].exec(page)?.[0] ?? '').replace(';', '')))
    expect(await rig.listAssignments()).toMatchObject([{ lock_key: 'node:september' }])
    expect(await leases.releaseLock('node:september', 'a')).toBe(true)
  })

  it('whose month was dropped while they were running end without a trace', async () => {
    await leases.acquireLock(KEY, 'a', 'node', DAY_MS)
    for (let day = 0; day < 40; day += 1) {
      rig.clock.leap(DAY_MS / 2)
      expect(await leases.renewLock(KEY, 'a', DAY_MS)).toBe(true)
    }
    rig.clock.leap(1)
    expect(await leases.dropAssignmentsBefore(new Date(rig.nowMs))).toEqual(['2026-08'])
    expect(await leases.renewLock(KEY, 'a', DAY_MS)).toBe(true)
    expect(await leases.releaseLock(KEY, 'a')).toBe(true)
    expect(await rig.listAssignments()).toEqual([])
  })

  it('have one table although six open for the first time together', async () => {
    const other = new WorkflowRig(kind, await server.create())
    const all = await Promise.all(Array.from({ length: 6 }, () => other.openLeases()))
    const asked = all.map((one, n) => one.acquireLock(`node:${n}`, 'a', 'node', 1_000))
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 6 }, () => true))
    expect(await other.listAssignments()).toHaveLength(6)
    await other.close()
  })

  it('have a table of their own, or the name is refused', async () => {
    const other = new WorkflowRig(kind, await server.create())
    const engine = await other.openEngine()
    await other.query(sql`create table workflow_locks (lock_key integer)`)
    await expect(openWorkflowLeases(engine)).rejects.toThrow(/workflow_locks/)
    expect(await engine.read({ kind: 'stats' })).toMatchObject({ keys: 0 })
    await other.close()
  })

  if (kind.name === 'sqlite') return
  const placesOf = PLACES[kind.name]
  const countOf = COUNTS[kind.name]
  describe('by month', () => {
    async function findPlaces(): Promise<string[]> {
      if (kind.name === 'mysql') await rig.query(sql`analyze table workflow_assignments`)
      const rows = await rig.query(placesOf)
      return [...new Set(rows.map(({ place }) => place.replace(/^workflow_assignments_|^m/, '')))]
    }

    async function countPlaces(): Promise<number | undefined> {
      return (await rig.query(countOf))[0]?.count
    }

    it('have a place before the month begins, whoever writes first', async () => {
      const other = await rig.openLeases()
      for (let month = 0; month < 6; month += 1) {
        await leases.acquireLock(`node:${month}`, 'a', 'node', 1_000)
        await other.acquireLock(`node:${month}:b`, 'a', 'node', 1_000)
        // They are made behind the back of those who write, and these months are short.
        const [present, ahead, later] = [month + 1, 2, 1]
        await expect.poll(countPlaces).toBe(present + ahead + later)
        rig.clock.leap(30 * DAY_MS)
      }
      await leases.close()
      await other.close()
      expect(await findPlaces()).toEqual([
        '2026_08',
        '2026_09',
        '2026_10',
        '2026_11',
        '2026_12',
        '2027_01',
      ])
    })

    it('that came when there was none go to their months later', async () => {
      rig.clock.leap(150 * DAY_MS)
      const engine = await rig.openEngine()
      const early = rig.nowMs
      await engine.writeBeside(async ({ db }) => {
        await sql`insert into workflow_assignments
          (id, lock_key, owner, lock_type, token, assigned_at, expires_at)
          values ('1', 'k', 'o', 'node', 1, '2027-01-12 00:00:00', '2027-01-12 00:00:00')`.execute(
          db,
        )
      })
      expect(await findPlaces()).toEqual(['later'])
      expect(early).toBeGreaterThan(Date.UTC(2027, 0, 1))
      await rig.openLeases()
      expect(await findPlaces()).toEqual(['2027_01'])
    })

    it('are placed once although many open at the same time', async () => {
      rig.clock.leap(100 * DAY_MS)
      const all = await Promise.all(Array.from({ length: 6 }, () => rig.openLeases()))
      const answers = all.map((one, n) => one.acquireLock(`node:${n}`, 'a', 'node', 1_000))
      expect(await Promise.all(answers)).toEqual(Array.from({ length: 6 }, () => true))
      expect(await findPlaces()).toEqual(['2026_11'])
    })
  })
})

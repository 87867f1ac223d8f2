import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SqlDatabase } from '../../../../src/engines/sql/sql-dialect.ts'
import { ENDED_REMEMBERED_MS } from '../../../../src/law/model/limits.ts'
import type { Outcome } from '../../../../src/law/model/outcomes.ts'
import { createStillClock, OptimisticProcess } from './guessing-process.ts'
import { type HeldTransaction, holdOpen, waitUntilBlocked } from './row-locks.ts'
import { MYSQL, POSTGRES, type ServerKind } from '../test-servers.ts'
import { useServer } from '../use-server.ts'

const KEYS = ['k1', 'k2', 'k3', 'k4', 'k5'] as const
/** Which of them the other process changes, in each round. */
const ROUNDS = [...KEYS, ...KEYS]

describe.each([POSTGRES, MYSQL])('who decides without looking, on $name,', (kind: ServerKind) => {
  const server = useServer(kind)
  let database: SqlDatabase
  let here: OptimisticProcess
  let there: OptimisticProcess
  let nowMs: number

  beforeEach(async () => {
    nowMs = 1_000_000
    const where = await server.create()
    const options = { clock: createStillClock(() => nowMs), isClockOurs: true }
    here = server.closing(await OptimisticProcess.open(() => kind.open(where), options))
    there = server.closing(await OptimisticProcess.open(() => kind.open(where), options))
    database = server.closing(await kind.open(where))
  })

  /** This process knows these keys now, and changed them last. Returns their tokens. */
  async function learn(...keys: readonly string[]): Promise<number[]> {
    const outcomes = await Promise.all(keys.map((key) => here.acquire('first', key)))
    await Promise.all(keys.map((key) => here.release('first', key)))
    return outcomes.map(tokenOf)
  }

  /** Stands in the way of whoever wants to change this key. */
  async function holdKey(key: string): Promise<HeldTransaction> {
    return server.closing(
      await holdOpen(database, (db) =>
        sql`select id from holdfast_keys where space = 'lock' and name = ${key} for update`.execute(
          db,
        ),
      ),
    )
  }

  const holdersOf = async (key: string): Promise<readonly string[]> =>
    (await there.engine.read({ kind: 'inspect', key })).holders.map(({ owner }) => owner)

  const rowsOf = (key: string): Promise<{ id: number; version: number }[]> =>
    database.db
      .selectFrom('holdfast_keys')
      .select(['id', 'version'])
      .where('name', '=', key)
      .execute()

  async function countEnds(): Promise<number> {
    const ends = await database.db.selectFrom('holdfast_history').select('id').execute()
    return ends.length
  }

  it('is refused what somebody else got meanwhile', async () => {
    await learn('k')
    await there.acquire('b', 'k')
    const asked = await here.during(() => here.acquire('a', 'k'))
    expect(asked).toMatchObject({ result: { kind: 'refused', code: 'held' }, refuted: 1 })
    expect(await holdersOf('k')).toEqual(['b'])
  })

  it('waits behind somebody else who got it meanwhile, and has its turn', async () => {
    const [first = 0] = await learn('k')
    const second = tokenOf(await there.acquire('b', 'k'))
    const wait = { requestId: 'w', waitMs: 60_000, detach: true }
    const asked = await here.during(() => here.acquire('a', 'k', wait))
    expect(asked).toMatchObject({ result: { kind: 'queued', position: 1 }, refuted: 1 })
    await there.release('b', 'k')
    const third = tokenOf(await here.acquire('a', 'k', wait))
    expect(second).toBeGreaterThan(first)
    expect(third).toBeGreaterThan(second)
  })

  it('gets what somebody else has given back meanwhile', async () => {
    const first = tokenOf(await here.acquire('a', 'k'))
    await there.release('a', 'k')
    const asked = await here.during(() => here.acquire('b', 'k'))
    expect(asked).toMatchObject({ result: { kind: 'granted', writes: 1 }, refuted: 1 })
    expect(tokenOf(asked.result)).toBeGreaterThan(first)
    expect(await holdersOf('k')).toEqual(['b'])
  })

  it('gives nothing back that somebody else has given back meanwhile', async () => {
    await here.acquire('a', 'k')
    await there.release('a', 'k')
    await there.acquire('b', 'k')
    const asked = await here.during(() => here.release('a', 'k'))
    expect(asked).toMatchObject({ result: { kind: 'refused', code: 'not_holder' }, refuted: 1 })
    expect(await holdersOf('k')).toEqual(['b'])
  })

  it('finds a key anew that was removed meanwhile', async () => {
    const [first = 0] = await learn('k')
    nowMs += ENDED_REMEMBERED_MS
    await there.engine.apply({ kind: 'sweep' })
    expect(await rowsOf('k')).toEqual([])
    const asked = await here.during(() => here.acquire('a', 'k'))
    expect(asked).toMatchObject({ result: { kind: 'granted' }, refuted: 1 })
    expect(tokenOf(asked.result)).toBeGreaterThan(first)
    expect(await holdersOf('k')).toEqual(['a'])
  })

  it('does not take a key for the old one that was removed and made anew', async () => {
    await learn('k')
    const [before] = await rowsOf('k')
    nowMs += ENDED_REMEMBERED_MS
    await there.engine.apply({ kind: 'sweep' })
    const second = tokenOf(await there.acquire('b', 'k'))
    await there.release('b', 'k')
    const [after] = await rowsOf('k')
    expect(after?.version).toBe(before?.version)
    const asked = await here.during(() => here.acquire('a', 'k'))
    expect(asked).toMatchObject({ result: { kind: 'granted' }, refuted: 1 })
    expect(tokenOf(asked.result)).toBeGreaterThan(second)
  })

  it('is not deceived by versions that add up although a key is gone', async () => {
    await learn('k1')
    nowMs += ENDED_REMEMBERED_MS / 2
    await learn('k2')
    const known = [...(await rowsOf('k1')), ...(await rowsOf('k2'))]
    const total = known.reduce((sum, { version }) => sum + version, 0)
    nowMs += ENDED_REMEMBERED_MS / 2
    await there.engine.apply({ kind: 'sweep' })
    expect(await rowsOf('k1')).toEqual([])
    // As if others had changed it as often as that.
    await sql`update holdfast_keys set version = ${total} where name = 'k2'`.execute(database.db)
    const asked = await here.during(() =>
      Promise.all(['k1', 'k2'].map((key) => here.acquire('a', key))),
    )
    expect(asked).toMatchObject({ result: [{ kind: 'granted' }, { kind: 'granted' }], refuted: 1 })
    expect(await Promise.all(['k1', 'k2'].map(holdersOf))).toEqual([['a'], ['a']])
  })

  it('looks again once after it was wrong', async () => {
    await learn('k')
    expect(await here.during(() => here.look('k'))).toMatchObject({ trips: 1, refuted: 0 })
    await there.acquire('b', 'k')
    const wrong = await here.during(() => here.look('k'))
    expect(wrong.refuted).toBe(1)
    expect(wrong.trips).toBeGreaterThan(2)
    expect(await here.during(() => here.look('k'))).toMatchObject({ trips: 2, refuted: 0 })
    expect(await here.during(() => here.release('b', 'k'))).toMatchObject({ trips: 1, refuted: 0 })
  })

  it('is one of two who do so at the same time, and only one is right', async () => {
    await learn('k')
    await there.look('k')
    const held = await holdKey('k')
    const both = Promise.all(
      [here, there].map((one, index) => one.during(() => one.acquire(`o${index}`, 'k'))),
    )
    await waitUntilBlocked(database, 2)
    await held.close()
    const asked = await both
    expect(asked.reduce((sum, { refuted }) => sum + refuted, 0)).toBe(1)
    const kinds = asked.map(({ result }) => result.kind)
    expect(kinds.toSorted()).toEqual(['granted', 'refused'])
    expect(await holdersOf('k')).toEqual([`o${kinds.indexOf('granted')}`])
  })

  it('waits for nobody who is at another key', async () => {
    await learn(...KEYS)
    await holdKey('k3')
    const others = KEYS.filter((key) => key !== 'k3')
    const asked = await here.during(() => Promise.all(others.map((key) => here.acquire('a', key))))
    expect(asked).toMatchObject({ trips: 1, refuted: 0 })
    expect(asked.result.map(({ kind: what }) => what)).toEqual(others.map(() => 'granted'))
  })

  it('is told as ever what the database refuses to write, and so are those beside it', async () => {
    await sql`alter table holdfast_holds add constraint no_such check (owner <> 'refused')`.execute(
      database.db,
    )
    const [first = 0] = await learn('k1', 'k2', 'k3')
    const unguessed = await there.acquire('refused', 'new').catch((error: unknown) => error)
    const owners = ['a', 'refused', 'b']
    const { result, refuted } = await here.during(() =>
      Promise.allSettled(owners.map((owner, index) => here.acquire(owner, `k${index + 1}`))),
    )
    const { code, applied } = unguessed as { code: string; applied: string }
    expect({ code, applied }).toEqual({ code: 'LOCK_STORAGE_FAILED', applied: 'no' })
    expect(result).toMatchObject([
      { status: 'fulfilled', value: { kind: 'granted', writes: 1 } },
      { status: 'rejected', reason: { code, applied } },
      { status: 'fulfilled', value: { kind: 'granted', writes: 1 } },
    ])
    expect(refuted).toBe(0)
    expect(await holdersOf('k2')).toEqual([])
    const after = await here.acquire('c', 'k2')
    expect(after).toMatchObject({ kind: 'granted', writes: 1 })
    expect(tokenOf(after)).toBeGreaterThan(first)
  })

  it('decides nothing wrong and nothing twice where one of its keys was taken', async () => {
    const tokens = new Map<string, number[]>(KEYS.map((key) => [key, []]))
    for (const theirs of ROUNDS) {
      for (const [index, token] of (await learn(...KEYS)).entries())
        tokens.get(KEYS[index] ?? '')?.push(token)
      tokens.get(theirs)?.push(tokenOf(await there.acquire('b', theirs)))
      const asked = await here.during(() => Promise.all(KEYS.map((key) => here.acquire('a', key))))
      expect(asked.refuted).toBe(1)
      for (const [index, outcome] of asked.result.entries()) {
        const key = KEYS[index] ?? ''
        if (key === theirs) expect(outcome).toMatchObject({ kind: 'refused', code: 'held' })
        else expect(outcome).toMatchObject({ kind: 'granted', writes: 1 })
        if (key !== theirs) tokens.get(key)?.push(tokenOf(outcome))
      }
      await there.release('b', theirs)
      await Promise.all(KEYS.map((key) => here.release('a', key)))
    }
    for (const given of tokens.values()) {
      expect(given).toHaveLength(2 * ROUNDS.length)
      expect(given).toEqual([...new Set(given)].toSorted((one, other) => one - other))
    }
    expect(await countEnds()).toBe(2 * ROUNDS.length * KEYS.length)
  })

  it('ends nothing wrong and nothing twice where one of its keys was given to another', async () => {
    for (const theirs of ROUNDS) {
      await learn(...KEYS)
      await Promise.all(KEYS.map((key) => here.acquire('a', key)))
      await there.release('a', theirs)
      await there.acquire('b', theirs)
      const asked = await here.during(() => Promise.all(KEYS.map((key) => here.release('a', key))))
      expect(asked.refuted).toBe(1)
      expect(asked.result.map(({ kind: what }) => what)).toEqual(
        KEYS.map((key) => (key === theirs ? 'refused' : 'released')),
      )
      expect(await Promise.all(KEYS.map(holdersOf))).toEqual(
        KEYS.map((key) => (key === theirs ? ['b'] : [])),
      )
      await there.release('b', theirs)
    }
    expect(await countEnds()).toBe(ROUNDS.length * (2 * KEYS.length + 1))
  })
})

function tokenOf(outcome: Outcome): number {
  return outcome.kind === 'granted' ? outcome.token : Number.NaN
}

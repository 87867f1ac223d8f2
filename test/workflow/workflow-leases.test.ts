import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createError, isLockError } from '../../src/engine/errors/errors.ts'
import { openMemoryEngine } from '../../src/engines/embedded/embedded-engine.ts'
import { openWorkflowLeases } from '../../src/workflow/open-workflow-leases.ts'
import type { WorkflowLeases } from '../../src/workflow/workflow-leases.ts'
import { MYSQL, POSTGRES, SQLITE } from '../engines/sql/test-servers.ts'
import { useServer } from '../engines/sql/use-server.ts'
import { WorkflowRig } from './workflow-rig.ts'

const KEY = 'workflow:123'
const START_MS_MAX = 120_000

describe.each([SQLITE, POSTGRES, MYSQL])('workflow leases on $name', (kind) => {
  const server = useServer(kind)
  let rig: WorkflowRig
  let leases: WorkflowLeases

  beforeEach(async () => {
    rig = new WorkflowRig(kind, await server.create())
    leases = await rig.openLeases()
  }, START_MS_MAX)
  afterEach(() => rig.close())

  it('a free lock is acquired, and a held one is not', async () => {
    expect(await leases.acquireLock(KEY, 'a', 'workflow', 1_000)).toBe(true)
    expect(await leases.acquireLock(KEY, 'b', 'workflow', 1_000)).toBe(false)
    expect(await leases.acquireLock('workflow:124', 'b', 'workflow', 1_000)).toBe(true)
  })

  it('a lock that lives by its session is found after its first lease too', async () => {
    const engine = await rig.openEngine()
    await engine.apply({ kind: 'open-session', session: 's', graceMs: 60_000 })
    const ask = { kind: 'acquire', key: KEY, owner: 'a', requestId: '1', ttlMs: 1_000 } as const
    await engine.apply({ ...ask, session: 's' })
    rig.clock.leap(900)
    await engine.apply({ kind: 'touch-session', session: 's' })
    const keptUntil = new Date(rig.nowMs + 1_000)
    rig.clock.leap(200)
    expect(await leases.checkLock(KEY)).toMatchObject({ owner: 'a', expiresAt: keptUntil })
    rig.clock.leap(1_000)
    expect(await leases.checkLock(KEY)).toBeNull()
  })

  it('there is no re-entry, and asking in vain renews nothing', async () => {
    await leases.acquireLock(KEY, 'a', 'workflow', 1_000)
    expect(await leases.acquireLock(KEY, 'a', 'workflow', 60_000)).toBe(false)
    expect((await leases.checkLock(KEY))?.expiresAt).toEqual(new Date(rig.nowMs + 1_000))
    expect(await leases.releaseLock(KEY, 'a')).toBe(true)
    expect(await leases.checkLock(KEY)).toBeNull()
  })

  it('only the owner releases', async () => {
    await leases.acquireLock(KEY, 'a', 'workflow', 1_000)
    expect(await leases.releaseLock(KEY, 'b')).toBe(false)
    expect(await leases.releaseLock(KEY, 'a')).toBe(true)
    expect(await leases.releaseLock(KEY, 'a')).toBe(false)
    expect(await leases.acquireLock(KEY, 'b', 'workflow', 1_000)).toBe(true)
  })

  it('only the owner renews, and a lease is never made shorter', async () => {
    await leases.acquireLock(KEY, 'a', 'workflow', 1_000)
    expect(await leases.renewLock(KEY, 'b', 60_000)).toBe(false)
    expect(await leases.renewLock(KEY, 'a', 5_000)).toBe(true)
    expect(await leases.renewLock(KEY, 'a', 100)).toBe(true)
    expect((await leases.checkLock(KEY))?.expiresAt).toEqual(new Date(rig.nowMs + 5_000))
    expect(await leases.renewLock('workflow:free', 'a', 1_000)).toBe(false)
  })

  it('an expired lock is taken over, and its owner has lost it', async () => {
    await leases.acquireLock(KEY, 'a', 'workflow', 1_000)
    rig.clock.leap(999)
    expect(await leases.acquireLock(KEY, 'b', 'workflow', 1_000)).toBe(false)
    rig.clock.leap(1)
    expect(await leases.checkLock(KEY)).toBeNull()
    expect(await leases.renewLock(KEY, 'a', 1_000)).toBe(false)
    expect(await leases.acquireLock(KEY, 'b', 'workflow', 1_000)).toBe(true)
    expect(await leases.releaseLock(KEY, 'a')).toBe(false)
    expect((await leases.checkLock(KEY))?.owner).toBe('b')
  })

  it('says who holds a lock, of which type, since when and until when', async () => {
    await leases.acquireLock(KEY, 'a', 'node', 1_000)
    expect(await leases.checkLock(KEY)).toEqual({
      lockKey: KEY,
      owner: 'a',
      lockType: 'node',
      createdAt: new Date(rig.nowMs),
      expiresAt: new Date(rig.nowMs + 1_000),
      token: 1,
    })
    expect(await leases.checkLock('workflow:free')).toBeNull()
  })

  it('a clean-up removes what has expired, once, and says how many that were', async () => {
    for (const n of [1, 2, 3]) await leases.acquireLock(`node:${n}`, 'a', 'node', 1_000)
    await leases.acquireLock('node:4', 'a', 'node', 60_000)
    expect(await leases.cleanupExpiredLocks()).toBe(0)
    rig.clock.leap(1_000)
    await leases.acquireLock('node:3', 'b', 'node', 60_000)
    const other = await rig.openLeases()
    const counts = await Promise.all([leases.cleanupExpiredLocks(), other.cleanupExpiredLocks()])
    expect(counts[0] + counts[1]).toBe(2)
    expect(await leases.cleanupExpiredLocks()).toBe(0)
    expect((await leases.checkLock('node:4'))?.owner).toBe('a')
  })

  it('of fifty who ask first at the same time one gets it, and nobody gets an error', async () => {
    const engines = await Promise.all([1, 2, 3, 4, 5].map(() => rig.openLeases()))
    const asked = engines.flatMap((one, index) =>
      Array.from({ length: 10 }, (_, n) => one.acquireLock(KEY, `${index}-${n}`, 'node', 5_000)),
    )
    const answers = await Promise.all(asked)
    expect(answers.filter((isMine) => isMine)).toHaveLength(1)
    expect(await rig.listAssignments()).toHaveLength(1)
  })

  it('an owner that asks many times at once gets it once', async () => {
    const asked = Array.from({ length: 8 }, () => leases.acquireLock(KEY, 'a', 'node', 5_000))
    expect((await Promise.all(asked)).filter((isMine) => isMine)).toHaveLength(1)
    expect(await leases.releaseLock(KEY, 'a')).toBe(true)
    expect(await leases.checkLock(KEY)).toBeNull()
  })

  it('takes two keys for two that differ by case or by a space at the end', async () => {
    for (const key of ['node:a', 'node:A', 'node:a ']) {
      expect(await leases.acquireLock(key, 'a', 'node', 1_000)).toBe(true)
    }
    await leases.releaseLock('node:a', 'a')
    const ends = (await rig.listAssignments()).map((one) => [one.lock_key, one.ended_as])
    expect(new Map(ends as [string, string | null][])).toEqual(
      new Map([
        ['node:a', 'released'],
        ['node:A', null],
        ['node:a ', null],
      ]),
    )
  })

  it('a lease runs out on the clock of the database', async () => {
    const real = await rig.openRealLeases()
    await real.acquireLock('node:real', 'a', 'node', 300)
    const before = await real.checkLock('node:real')
    await expect
      .poll(() => real.acquireLock('node:real', 'b', 'node', 10_000), { interval: 10 })
      .toBe(true)
    const after = await real.checkLock('node:real')
    expect(after?.owner).toBe('b')
    expect(Number(after?.createdAt)).toBeGreaterThanOrEqual(Number(before?.expiresAt))
  })

  it('an answer that was lost is asked for again, and counts once', async () => {
    const engine = await rig.openEngine()
    const apply = engine.applyWith.bind(engine)
    let isLost = true
    engine.applyWith = async (command, also) => {
      const outcome = await apply(command, also)
      isLost = !isLost
      if (isLost) return outcome
      throw createError('LOCK_ENGINE_UNAVAILABLE', 'cut off', { applied: 'maybe' })
    }
    const cut = await openWorkflowLeases(engine)
    expect(await cut.acquireLock(KEY, 'a', 'node', 1_000)).toBe(true)
    expect(await cut.renewLock(KEY, 'a', 2_000)).toBe(true)
    expect(await cut.releaseLock(KEY, 'a')).toBe(true)
    expect(await rig.listAssignments()).toMatchObject([{ owner: 'a', ended_as: 'released' }])
    engine.applyWith = async () => {
      throw createError('LOCK_ENGINE_UNAVAILABLE', 'cut off', { applied: 'maybe' })
    }
    await expect(cut.acquireLock(KEY, 'a', 'node', 1_000)).rejects.toMatchObject({
      code: 'LOCK_ENGINE_UNAVAILABLE',
      applied: 'maybe',
    })
  })

  it.each([
    ['an empty key', { key: '' }],
    ['an empty owner', { owner: '' }],
    ['a type with a quote', { type: 'no"de' }],
    ['a lease of no time', { timeoutMs: 0 }],
    ['a lease of more than a day', { timeoutMs: 86_400_001 }],
  ])('%s is a bad argument', async (_, wrong) => {
    const good = { key: KEY, owner: 'a', type: 'node', timeoutMs: 1_000 }
    const { key, owner, type, timeoutMs } = { ...good, ...wrong }
    const asked = leases.acquireLock(key, owner, type, timeoutMs)
    await expect(asked).rejects.toMatchObject({ code: 'LOCK_INVALID_ARGUMENT' })
  })

  it('workflow_locks has one row for each lock that is held now, with instants', async () => {
    const real = await rig.openRealLeases()
    await real.acquireLock(KEY, 'a', 'workflow', 60_000)
    await real.acquireLock('node:é:1', 'b', 'node', 50_000)
    await real.renewLock(KEY, 'a', 90_000)
    await rig.query(sql`update holdfast_holds set lease_at_ms = since_ms where owner = 'b'`)
    const [row, ...more] = await rig.query(sql<Record<string, unknown>>`
      select * from workflow_locks`)
    expect(more).toEqual([])
    expect(Object.keys(row ?? {})).toEqual([
      'lock_key',
      'owner',
      'lock_type',
      'expires_at',
      'created_at',
      'updated_at',
    ])
    expect(row).toMatchObject({ lock_key: KEY, owner: 'a', lock_type: 'workflow' })
    const lock = await real.checkLock(KEY)
    const [instants] = await rig.query(sql`
      select ${rig.toMs('expires_at')} as expires, ${rig.toMs('created_at')} as created,
        ${rig.toMs('expires_at')} - ${rig.toMs('updated_at')} as lease
      from workflow_locks where lock_key = ${KEY}`)
    expect(instants).toEqual({
      expires: lock?.expiresAt.getTime(),
      created: lock?.createdAt.getTime(),
      lease: 90_000,
    })
  })

  it('holdfast_holders shows every holder, whatever it says of itself', async () => {
    const engine = await rig.openRealEngine()
    const real = await openWorkflowLeases(engine)
    await real.acquireLock(KEY, 'a', 'workflow', 60_000)
    const ask = { key: 'other', requestId: '1', ttlMs: 60_000 } as const
    for (const meta of ['no json', '{"type":"a","b":"c"}', '{"type":1}']) {
      await engine.apply({ ...ask, kind: 'acquire', owner: meta, mode: 'read', meta })
    }
    const holders = await rig.query(sql`
      select space, name, owner, mode, token from holdfast_holders order by token, owner`)
    expect(holders).toHaveLength(4)
    expect(holders).toContainEqual({
      space: 'lock',
      name: KEY,
      owner: 'a',
      mode: 'write',
      token: 1,
    })
    const types = await rig.query(sql`
      select lock_type from workflow_locks where lock_key = 'other'`)
    expect(types).toEqual(Array.from({ length: 3 }, () => ({ lock_type: null })))
    expect((await real.checkLock('other'))?.lockType).toBeNull()
  })

  it('a lock that was taken in another way is respected, and shown without a type', async () => {
    const engine = await rig.openEngine()
    const ask = { key: KEY, owner: 'sdk', requestId: '1', ttlMs: 5_000 } as const
    await engine.apply({ kind: 'acquire', ...ask })
    expect(await leases.acquireLock(KEY, 'a', 'workflow', 1_000)).toBe(false)
    expect(await leases.checkLock(KEY)).toMatchObject({ owner: 'sdk', lockType: null })
    expect(await rig.listAssignments()).toEqual([])
  })

  it('an engine that was given stays open when the leases are closed', async () => {
    const engine = await rig.openEngine()
    const own = await openWorkflowLeases(engine)
    await own.acquireLock(KEY, 'a', 'workflow', 1_000)
    await own.close()
    for (const asked of [own.checkLock(KEY), own.acquireLock(KEY, 'b', 'workflow', 1_000)]) {
      await expect(asked).rejects.toMatchObject({ code: 'LOCK_ENGINE_CLOSED' })
    }
    expect(await engine.read({ kind: 'inspect', key: KEY })).toMatchObject({ holders: [{}] })
  })
})

describe('openWorkflowLeases', () => {
  it.each(['memory:', 'file:./locks', 'http://127.0.0.1', 'nonsense'])(
    'refuses %s, which is no database',
    async (url) => {
      const error = await openWorkflowLeases(url).catch((reason: unknown) => reason)
      expect(isLockError(error, 'LOCK_UNKNOWN_ENGINE')).toBe(true)
    },
  )

  it('says that a database is out of reach', async () => {
    for (const url of ['postgres://a@127.0.0.1:1/a', 'mysql://a@127.0.0.1:1/a']) {
      const error = await openWorkflowLeases(url).catch((reason: unknown) => reason)
      expect(isLockError(error, 'LOCK_ENGINE_UNAVAILABLE')).toBe(true)
    }
  })

  it('refuses an engine without a database, and leaves it open', async () => {
    const engine = openMemoryEngine()
    await expect(openWorkflowLeases(engine)).rejects.toMatchObject({
      code: 'LOCK_INVALID_ARGUMENT',
    })
    expect(await engine.read({ kind: 'stats' })).toMatchObject({ keys: 0 })
    await engine.close()
  })
})

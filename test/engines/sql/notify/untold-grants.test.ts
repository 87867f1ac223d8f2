import type { KyselyPlugin, RootOperationNode } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../../src/engine/engine.ts'
import { openSqlEngine } from '../../../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../../../src/engines/sql/sql-dialect.ts'
import type { Command } from '../../../../src/law/model/commands.ts'
import type { Outcome } from '../../../../src/law/model/outcomes.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { MYSQL, POSTGRES, type ServerKind, SQLITE } from '../test-servers.ts'
import { useServer } from '../use-server.ts'

const TTL_MS = 600_000
const CLAIM_MS = 10_000

/** As often as a process asks again for what it has not heard of. */
const ROUND_MS = 10_000

/** A process on the database, as far as the database can tell. */
interface Process {
  readonly engine: LockEngine
  readonly database: SqlDatabase
  readonly notifications: Letters
}

/** The notifications of a process, which it may be unable to read. */
class Letters implements KyselyPlugin {
  areHidden = false

  transformQuery({ node }: { node: RootOperationNode }): RootOperationNode {
    const isMeant = JSON.stringify(node).includes('holdfast_letters')
    if (this.areHidden && isMeant) throw new Error('not now')
    return node
  }

  async transformResult<Result>({ result }: { result: Result }): Promise<Result> {
    return result
  }
}

describe.each([SQLITE, POSTGRES, MYSQL])('two processes on $name', (kind: ServerKind) => {
  const server = useServer(kind)
  let clock: VirtualClock
  let here: Process
  let there: Process

  beforeEach(async () => {
    clock = new VirtualClock({ nowMs: 1_000_000 })
    const where = await server.create()
    here = await open(where)
    there = await open(where)
  })

  afterEach(async () => {
    for (const { engine, database } of [here, there]) {
      await engine.close().catch(() => {})
      await database.close().catch(() => {})
    }
  })

  async function open(where: string): Promise<Process> {
    const opened = await kind.open(where)
    const notifications = new Letters()
    const database = { ...opened, db: opened.db.withPlugin(notifications) }
    const settings = { claimWindowMs: CLAIM_MS, openPatienceMs: Infinity }
    const engine = await openSqlEngine(async () => database, { clock, isClockOurs: true, settings })
    return { engine, database, notifications }
  }

  const acquire = (owner: string, waitMs = 0): Command & { kind: 'acquire' } => ({
    kind: 'acquire',
    key: 'k',
    owner,
    requestId: `${owner}-1`,
    ttlMs: TTL_MS,
    waitMs,
  })
  const abandon = (owner: string): Command & { kind: 'cancel' } => ({
    kind: 'cancel',
    key: 'k',
    owner,
    requestId: `${owner}-1`,
    reason: 'abandoned',
  })
  const release = (owner: string): Command => ({ kind: 'release', key: 'k', owner })

  /** Resolves when it stands in the queue. */
  async function wait({ engine }: Process, owner: string): Promise<{ answer: Promise<Outcome> }> {
    const answer = Promise.resolve(engine.apply(acquire(owner, Infinity)))
    answer.catch(() => {})
    await expect.poll(() => isQueued(engine, owner)).toBe(true)
    return { answer }
  }

  async function isQueued(engine: LockEngine, owner: string): Promise<boolean> {
    const { queue } = await engine.read({ kind: 'inspect', key: 'k' })
    return queue.some((waiter) => waiter.owner === owner)
  }

  async function holders({ engine }: Process): Promise<string[]> {
    const { holders: shown } = await engine.read({ kind: 'inspect', key: 'k' })
    return shown.map(({ owner }) => owner)
  }

  it.each([
    ['its own', () => here],
    ['another', () => there],
  ])('a grant that the client of %s waiter never heard of is passed on', async (_, releasing) => {
    await here.engine.apply(acquire('x'))
    const first = await wait(here, 'y')
    const second = await wait(here, 'z')
    await releasing().engine.apply(release('x'))
    expect(await first.answer).toMatchObject({ kind: 'granted' })
    expect(await here.engine.apply(abandon('y'))).toMatchObject({ cancelled: true })
    expect(await second.answer).toMatchObject({ kind: 'granted' })
    expect(await holders(here)).toEqual(['z'])
    const late = await here.engine.apply(acquire('y'))
    expect(late).toMatchObject({ code: 'ended', end: 'unclaimed' })
  })

  it.each([
    ['here', () => here],
    ['there', () => there],
  ])(
    'what another process concludes of a client that was told means nothing; released %s',
    async (_, releasing) => {
      await here.engine.apply(acquire('x'))
      const { answer } = await wait(here, 'y')
      await releasing().engine.apply(release('x'))
      expect(await answer).toMatchObject({ kind: 'granted' })
      expect(await there.engine.apply(abandon('y'))).toMatchObject({ cancelled: false })
      expect(await holders(there)).toEqual(['y'])
    },
  )

  it('a grant whose owner has renewed it stays', async () => {
    await here.engine.apply(acquire('x'))
    const { answer } = await wait(here, 'y')
    await there.engine.apply(release('x'))
    await answer
    await there.engine.apply({ kind: 'renew', key: 'k', owner: 'y', ttlMs: TTL_MS })
    expect(await here.engine.apply(abandon('y'))).toMatchObject({ cancelled: false })
    expect(await holders(here)).toEqual(['y'])
  })

  it('a grant that was told before its notification could be read stays', async () => {
    await there.engine.apply(acquire('x'))
    const first = await wait(here, 'y')
    await clock.advance(ROUND_MS - CLAIM_MS / 2)
    here.notifications.areHidden = true
    await there.engine.apply(release('x'))
    await clock.advance(CLAIM_MS / 2)
    expect(await first.answer).toMatchObject({ kind: 'granted' })
    here.notifications.areHidden = false
    // Somebody has to wait, or nobody looks for notifications.
    const second = await wait(here, 'z')
    const left = there.database.db.selectFrom('holdfast_letters').select('id')
    await expect.poll(() => left.execute()).toEqual([])
    expect(await holders(there)).toEqual(['y'])
    await here.engine.apply(release('y'))
    expect(await second.answer).toMatchObject({ kind: 'granted' })
  })

  it('what was told outlives the process that told it', async () => {
    await here.engine.apply(acquire('x'))
    const first = await wait(here, 'y')
    await there.engine.apply(release('x'))
    await first.answer
    await here.database.close()
    await clock.advance(3 * CLAIM_MS)
    expect(await holders(there)).toEqual(['y'])
  })

  it('a grant to a process that is gone goes to the next after the claim window', async () => {
    await there.engine.apply(acquire('x'))
    await wait(here, 'y')
    const second = await wait(there, 'z')
    await here.database.close()
    await there.engine.apply(release('x'))
    expect(await holders(there)).toEqual(['y'])
    await clock.advance(2 * CLAIM_MS)
    expect(await holders(there)).toEqual(['z'])
    expect(await second.answer).toMatchObject({ kind: 'granted' })
  })

  it.each([
    ['its own', () => here],
    ['another', () => there],
  ])('an operation that was granted unheard to %s process is passed on', async (_, finishing) => {
    const begin = { kind: 'begin', type: 'pull', resource: 'r', ttlMs: TTL_MS } as const
    await here.engine.apply({ ...begin, node: 'm' })
    const answer = here.engine.apply({ ...begin, node: 'n', waitMs: 60_000 })
    const read = { kind: 'inspect', key: 'r', namespace: 'operation' } as const
    await expect.poll(async () => (await there.engine.read(read)).queueLength).toBe(1)
    const { engine } = finishing()
    await engine.apply({ ...begin, kind: 'finish', node: 'm', success: false })
    expect(await answer).toMatchObject({ kind: 'granted' })
    const cancel = { kind: 'cancel', namespace: 'operation', key: 'r', owner: 'pull:n' } as const
    const abandon = { ...cancel, reason: 'abandoned' } as const
    const elsewhere = await there.engine.apply(abandon)
    expect(elsewhere).toMatchObject({ cancelled: false })
    expect(await here.engine.apply(abandon)).toMatchObject({ cancelled: true })
    expect((await there.engine.read(read)).holders).toEqual([])
  })
})

import type { KyselyPlugin, RootOperationNode } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../../src/engine/engine.ts'
import { NotificationSignal } from '../../../../src/engines/sql/notify/notification-signal.ts'
import { openSqlEngine } from '../../../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../../../src/engines/sql/sql-dialect.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { MYSQL, POSTGRES, type ServerKind, SQLITE } from '../test-servers.ts'
import { useServer } from '../use-server.ts'

const LONG_MS = 600_000

/** Nothing but the doorbell wakes a process whose clock never rings: nothing is asked for again, nothing is swept. */
const STILL = { cancel: () => {}, ref: () => {}, unref: () => {} }
const STANDING = { nowMs: () => 1_000, wallMs: () => 1_000, setTimer: () => STILL }

/** Counts how often a process looks for notifications. */
class LookCounter implements KyselyPlugin {
  count = 0

  transformQuery({ node }: { node: RootOperationNode }): RootOperationNode {
    const isLook = node.kind === 'SelectQueryNode' && JSON.stringify(node.from).includes(LETTERS)
    if (isLook) this.count += 1
    return node
  }

  async transformResult<Result>({ result }: { result: Result }): Promise<Result> {
    return result
  }
}

const LETTERS = 'holdfast_letters'

describe.each([
  { kind: SQLITE, delayMs: 25 },
  { kind: POSTGRES, delayMs: 0 },
  { kind: MYSQL, delayMs: 50 },
])('a waiter of another process on $kind.name', ({ kind, delayMs }) => {
  const server = useServer(kind)

  /** One who holds, one who waits and is told nothing by the database, and how often it looks. */
  async function meet(): Promise<{ holder: LockEngine; waiter: LockEngine; looks: LookCounter }> {
    const where = await server.create()
    const looks = new LookCounter()
    const holder = server.closing(await openSqlEngine(() => kind.open(where)))
    const options = { clock: STANDING }
    const waiter = await openSqlEngine(() => openDeaf(kind, where, looks), options)
    server.closing(waiter)
    return { holder, waiter, looks }
  }

  it('is granted by a look of its own, although nobody rings, and by the first one', async () => {
    const { holder, waiter, looks } = await meet()
    expect(waiter.capabilities.wakeDelayMsMax).toBe(delayMs)
    await holder.apply({ kind: 'acquire', key: 'k', owner: 'a', requestId: '1' })
    const waiting = waiter.apply({
      kind: 'acquire',
      key: 'k',
      owner: 'b',
      requestId: '1',
      waitMs: LONG_MS,
    })
    await expect.poll(() => looks.count, { interval: 5 }).toBeGreaterThan(0)
    await holder.apply({ kind: 'release', key: 'k', owner: 'a' })
    const before = looks.count
    expect(await waiting).toMatchObject({ kind: 'granted' })
    // None where one had begun when the release was answered.
    expect(looks.count - before).toBeLessThanOrEqual(1)
  })
})

async function openDeaf(kind: ServerKind, where: string, looks: LookCounter): Promise<SqlDatabase> {
  const database = await kind.open(where)
  return { ...database, db: database.db.withPlugin(looks), listen: async () => {} }
}

it.each([
  { pollMs: 25, delayMs: 25 },
  { pollMs: 0, delayMs: 2_000 },
])('a process that is to look every $pollMs ms looks after $delayMs ms, and again', async (one) => {
  const { pollMs, delayMs } = one
  const clock = new VirtualClock()
  let looks = 0
  const look = async (): Promise<void> => {
    looks += 1
  }
  const bell = new NotificationSignal({ pollMs, look }, clock)
  bell.want(true, false)
  await clock.advance(delayMs - 1)
  expect(looks).toBe(0)
  await clock.advance(1)
  expect(looks).toBe(1)
  await clock.advance(delayMs)
  expect(looks).toBe(2)
  bell.want(false, false)
  await clock.advance(delayMs)
  expect(looks).toBe(2)
  await bell.close()
})

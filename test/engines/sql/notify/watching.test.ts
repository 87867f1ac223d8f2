import { beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine, WatchEvent, Watching } from '../../../../src/engine/engine.ts'
import { openSqlEngine } from '../../../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../../../src/engines/sql/sql-dialect.ts'
import type { Outcome } from '../../../../src/law/model/outcomes.ts'
import { type HeldTransaction, holdOpen, waitUntilBlocked } from '../commit/row-locks.ts'
import { MYSQL, POSTGRES, type ServerKind, SQLITE } from '../test-servers.ts'
import { useServer } from '../use-server.ts'

const ROUND_TRIPS = 100

/** A release that has not ended, because `held` stands in its way. */
interface Releasing {
  readonly done: Promise<Outcome>
  readonly held: HeldTransaction
}

describe.each([SQLITE, POSTGRES, MYSQL])('who watches on $name', (kind: ServerKind) => {
  const server = useServer(kind)
  let database: SqlDatabase
  let here: LockEngine
  let there: LockEngine

  beforeEach(async () => {
    const where = await server.create()
    here = server.closing(await openSqlEngine(() => kind.open(where)))
    there = server.closing(await openSqlEngine(() => kind.open(where)))
    database = server.closing(await kind.open(where))
  })

  const acquire = async (engine: LockEngine, key: string): Promise<Outcome> =>
    engine.apply({ kind: 'acquire', key, owner: 'a', requestId: '1' })
  const release = async (engine: LockEngine, key: string): Promise<Outcome> =>
    engine.apply({ kind: 'release', key, owner: 'a' })

  /** What was told, each event as its kind and its key. */
  async function watch(engine: LockEngine): Promise<{ told: string[]; watching: Watching }> {
    const told: string[] = []
    const tell = (event: WatchEvent): void =>
      void told.push(event.kind === 'reset' ? 'reset' : `${event.kind} ${event.key}`)
    return { told, watching: await engine.watch({}, tell) }
  }

  /** The other process is releasing a key, and has not committed; it knew of nobody who watches. */
  async function beginRelease(key: string): Promise<Releasing> {
    await acquire(there, key)
    const held = server.closing(
      await holdOpen(database, (db) =>
        db.selectFrom('holdfast_holds').selectAll().forUpdate().execute(),
      ),
    )
    const done = release(there, key)
    await waitUntilBlocked(database, 1)
    return { done, held }
  }

  /** Whatever is not waited for has happened by then. */
  async function passTime(): Promise<void> {
    for (let trip = 0; trip < ROUND_TRIPS; trip += 1) await here.read({ kind: 'stats' })
  }

  it.skipIf(kind === SQLITE)('begins when those are over who do not know of it', async () => {
    const { done, held } = await beginRelease('k')
    let isWatching = false
    const opening = watch(here).then((opened) => {
      isWatching = true
      return opened
    })
    await passTime()
    expect(isWatching).toBe(false)
    await held.close()
    await done
    const { told } = await opening
    await acquire(there, 'later')
    await expect.poll(() => told).toEqual(['granted later'])
  })

  it.skipIf(kind === SQLITE)(
    'stands in the way of nobody until then, and hears of those who came',
    async () => {
      const { done, held } = await beginRelease('k')
      const opening = watch(here)
      await passTime()
      await acquire(there, 'other')
      await acquire(here, 'third')
      const events = await database.db.selectFrom('holdfast_events').select('id').execute()
      expect(events).toHaveLength(2)
      await held.close()
      await done
      await opening
    },
  )

  it('has heard of what happens in its own process before that is answered', async () => {
    const { told } = await watch(here)
    await acquire(here, 'k')
    expect(told).toEqual(['granted k'])
  })

  it('together with another one is told the same', async () => {
    const opened = await Promise.all([watch(here), watch(here), watch(there)])
    await acquire(here, 'k')
    await release(there, 'k')
    for (const { told } of opened)
      await expect.poll(() => told).toEqual(['granted k', 'released k'])
  })

  it('later than another one is not told what was before', async () => {
    const first = await watch(here)
    await acquire(there, 'before')
    const second = await watch(here)
    await acquire(there, 'after')
    await expect.poll(() => second.told).not.toEqual([])
    expect(second.told).toEqual(['granted after'])
    expect(first.told).toEqual(['granted before', 'granted after'])
  })

  it('again after the last one left is told what comes then', async () => {
    const first = await watch(here)
    await acquire(there, 'one')
    await first.watching.close()
    await acquire(there, 'two')
    const second = await watch(here)
    await acquire(there, 'three')
    await expect.poll(() => second.told).not.toEqual([])
    expect(second.told).toEqual(['granted three'])
  })
})

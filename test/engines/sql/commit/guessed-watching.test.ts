import { beforeEach, describe, expect, it } from 'vitest'
import type { WatchEvent } from '../../../../src/engine/engine.ts'
import type { SqlDatabase } from '../../../../src/engines/sql/sql-dialect.ts'
import { WATCHED_MS } from '../../../../src/engines/sql/notify/watch-notice.ts'
import { createStillClock, OptimisticProcess } from './guessing-process.ts'
import { holdOpen, waitUntilBlocked } from './row-locks.ts'
import { MYSQL, POSTGRES, type ServerKind } from '../test-servers.ts'
import { useServer } from '../use-server.ts'

/** How often the other process begins to watch while this one goes on. */
const WATCHES = 5
const CYCLES = 20
const ROUND_TRIPS = 10

describe.each([POSTGRES, MYSQL])('who knows of no watcher, on $name,', (kind: ServerKind) => {
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
    await here.acquire('first', 'k')
    await here.release('first', 'k')
  })

  it('keeps them waiting until what it has decided is over', async () => {
    await here.acquire('a', 'k')
    const held = server.closing(
      await holdOpen(database, (db) =>
        db.selectFrom('holdfast_holds').selectAll().forUpdate().execute(),
      ),
    )
    const releasing = here.during(() => here.release('a', 'k'))
    await waitUntilBlocked(database, 1)
    const told: string[] = []
    let isWatching = false
    const opening = there.engine
      .watch({}, (event) => void told.push(nameOf(event)))
      .then(() => {
        isWatching = true
      })
    // Whatever is not waited for has happened by then.
    for (let trip = 0; trip < ROUND_TRIPS; trip += 1) await there.engine.read({ kind: 'stats' })
    expect(isWatching).toBe(false)
    await held.close()
    expect(await releasing).toMatchObject({ result: { kind: 'released' }, trips: 1, refuted: 0 })
    await opening
    await here.acquire('b', 'k')
    await expect.poll(() => told).toEqual(['granted b'])
  })

  it('tells somebody who has begun to watch elsewhere', async () => {
    const told: string[] = []
    await there.engine.watch({}, (event) => void told.push(nameOf(event)))
    const asked = await here.during(() => here.acquire('a', 'k'))
    expect(asked).toMatchObject({ result: { kind: 'granted' }, refuted: 1 })
    await expect.poll(() => told).toEqual(['granted a'])
  })

  it('tells all that happens after somebody began to watch in the middle', async () => {
    for (let watch = 0; watch < WATCHES; watch += 1) {
      const told: string[] = []
      const done: string[] = []
      const opening = there.engine.watch({}, (event) => void told.push(nameOf(event)))
      let from = Infinity
      void opening.then(() => {
        from = done.length
      })
      for (let cycle = 0; done.length < from + CYCLES; cycle += 1) {
        const owner = `w${watch}-${cycle}`
        done.push(`granted ${owner}`)
        await here.acquire(owner, 'k')
        done.push(`released ${owner}`)
        await here.release(owner, 'k')
      }
      await expect.poll(() => told.at(-1)).toBe(done.at(-1))
      // What was on its way when the watch began may be told or not.
      expect(told.length).toBeGreaterThanOrEqual(done.length - from)
      expect(told).toEqual(done.slice(done.length - told.length))
      await (await opening).close()
      nowMs += WATCHED_MS
      await here.look('k')
    }
  })
})

function nameOf(event: WatchEvent): string {
  return 'owner' in event ? `${event.kind} ${event.owner}` : event.kind
}

import type { KyselyPlugin, RootOperationNode } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqlEngine } from '../../../../src/engines/sql/open-sql-engine.ts'
import type { SqlEngine } from '../../../../src/engines/sql/sql-engine.ts'
import { MYSQL, POSTGRES, type ServerKind, SQLITE, type TestServer } from '../test-servers.ts'

/** Counts how often the database is asked something. */
class TripCounter implements KyselyPlugin {
  count = 0

  transformQuery({ node }: { node: RootOperationNode }): RootOperationNode {
    return node
  }

  async transformResult<Result>({ result }: { result: Result }): Promise<Result> {
    this.count += 1
    return result
  }

  /** How many round trips something takes. */
  async during(work: () => Promise<unknown>): Promise<number> {
    const before = this.count
    await work()
    return this.count - before
  }
}

/** An engine that is left alone for so long that nothing of its own comes between. */
async function openCounted(
  kind: ServerKind,
  server: TestServer,
): Promise<{ readonly engine: SqlEngine; readonly counter: TripCounter }> {
  const counter = new TripCounter()
  const where = await server.create()
  const clock = { nowMs: () => 1_000, wallMs: () => 1_000, setTimer: () => STILL }
  const engine = await openSqlEngine(
    async () => {
      const database = await kind.open(where)
      const db = database.db.withPlugin(counter)
      return { ...database, db }
    },
    { clock, isClockOurs: true },
  )
  return { engine, counter }
}

const STILL = { cancel: () => {}, ref: () => {}, unref: () => {} }

const COUNTS = [
  { kind: SQLITE, first: 8, again: 6, release: 8, batches: 1, unit: 'statements' },
  { kind: POSTGRES, first: 3, again: 1, release: 1, batches: 2, unit: 'round trips' },
  { kind: MYSQL, first: 3, again: 1, release: 1, batches: 2, unit: 'round trips' },
] as const

describe.each(COUNTS)('without contention, on $kind.name,', (options) => {
  const { kind, first, again, release, batches, unit } = options
  let server: TestServer
  let engine: SqlEngine
  let counter: TripCounter

  beforeAll(async () => {
    server = await kind.start()
    const opened = await openCounted(kind, server)
    engine = opened.engine
    counter = opened.counter
  }, 300_000)

  afterAll(async () => {
    await engine.close()
    await server.stop()
  })

  const acquire = (requestId: string): Promise<unknown> =>
    engine.apply({ kind: 'acquire', key: 'k', owner: 'a', requestId })
  const give = (): Promise<unknown> => engine.apply({ kind: 'release', key: 'k', owner: 'a' })

  it(`an acquire takes ${first} ${unit}, ${again} where the key is known, a release ${release}`, async () => {
    expect(await counter.during(() => acquire('one'))).toBe(first)
    expect(await counter.during(give)).toBe(release)
    expect(await counter.during(() => acquire('two'))).toBe(again)
    expect(await counter.during(give)).toBe(release)
  })

  it(`many commands at once take as many of them as ${batches}`, async () => {
    const many = Array.from({ length: 50 }, (_, index) =>
      engine.apply({ kind: 'acquire', key: `many-${index}`, owner: 'a', requestId: 'r' }),
    )
    const trips = await counter.during(() => Promise.all(many))
    expect(trips).toBeLessThanOrEqual(batches * first)
  })
})

describe('a hand-off', () => {
  it('takes as many statements with three thousand waiters as with three hundred', async () => {
    const server = await SQLITE.start()
    const { engine, counter } = await openCounted(SQLITE, server)
    const queue = async (key: string, waiters: number): Promise<number> => {
      const ask = (index: number): Promise<unknown> =>
        engine.apply({
          kind: 'acquire',
          key,
          owner: `o${index}`,
          requestId: 'r',
          waitMs: 60_000,
          detach: true,
        })
      await Promise.all(Array.from({ length: waiters + 1 }, (_, index) => ask(index)))
      await engine.apply({ kind: 'release', key, owner: 'o0' })
      return counter.during(() => engine.apply({ kind: 'release', key, owner: 'o1' }))
    }
    expect(await queue('long', 3_000)).toBe(await queue('short', 300))
    await engine.close()
    await server.stop()
  }, 60_000)
})

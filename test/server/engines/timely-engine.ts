import type { LockEngine } from '../../../src/engine/engine.ts'
import { openSqlEngine, type SqlOptions } from '../../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../../src/engines/sql/sql-dialect.ts'

/** Who is not told within this time is not told at all, and a test will say so. */
const LATE_MS = 1_000

/**
 * An engine on an empty database whose answers come after the events of what they answer, as they do in memory. Servers
 * do not rely on that; tests that look once and not again do.
 */
export async function openTimelyEngine(
  open: () => Promise<SqlDatabase>,
  options: SqlOptions,
): Promise<LockEngine> {
  let database: SqlDatabase | undefined
  const engine = await openSqlEngine(async () => {
    database = await open()
    return database
  }, options)
  const countEvents = async (): Promise<number> => {
    const row = await database?.db
      .selectFrom('holdfast_events')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirst()
    return Number(row?.count ?? 0)
  }
  let told = 0
  let isReset = false
  await engine.watch({}, (event) => {
    told += 1
    isReset ||= event.kind === 'reset'
  })
  const apply = async (...args: Parameters<LockEngine['apply']>): Promise<unknown> => {
    const outcome = await engine.apply(...args)
    const count = await countEvents().catch(() => 0)
    const untilMs = performance.now() + LATE_MS
    while (told < count && !isReset && performance.now() < untilMs) {
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    return outcome
  }
  return new Proxy<LockEngine>(engine, {
    get: (_, name) => {
      if (name === 'apply') return apply
      const value: unknown = Reflect.get(engine, name, engine)
      return typeof value === 'function' ? value.bind(engine) : value
    },
  })
}

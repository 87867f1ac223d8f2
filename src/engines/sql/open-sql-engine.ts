import type { Capabilities } from '../../engine/capabilities.ts'
import { toInvalidArgument } from '../../engine/errors/engine-errors.ts'
import { decide, type Law } from '../../law/decide.ts'
import { TTL_MS_MIN } from '../../engine/validation/limits.ts'
import { DEFAULT_SETTINGS } from '../../engine/validation/default-settings.ts'
import type { LawSettings } from '../../law/model/settings.ts'
import { problemWithSettings } from '../../engine/validation/validate.ts'
import type { Clock } from '../../time/clock.ts'
import { SystemClock } from '../../time/system-clock.ts'
import { migrate } from './schema/migrate.ts'
import type { SqlDatabase } from './sql-dialect.ts'
import { SqlEngine } from './sql-engine.ts'
import { toRefused, toUnavailable } from './sql-errors.ts'

export interface SqlOptions {
  readonly settings?: Partial<LawSettings> | undefined
  readonly clock?: Clock | undefined
  /** The clock above decides in place of that of the database: for tests that move it. */
  readonly isClockOurs?: boolean | undefined
  /** The law to apply: for tests that show that a wrong one is noticed. */
  readonly law?: Law | undefined
  /** For a server: what others on the same database know it by when their settings differ. */
  readonly announceAs?: string | undefined
}

/**
 * How long a waiter keeps its place when the process that holds its call open gives no sign any more. Each
 * does so three times as often.
 */
const OPEN_PATIENCE_MS = 30_000

/** What a database promises of itself: the same for all, apart from how soon others hear of a release. */
function capabilitiesOf({ dialect }: SqlDatabase, settings: LawSettings): Capabilities {
  return Object.freeze({
    name: dialect.name,
    durable: true,
    shared: true,
    seesDeadlocks: false,
    leaseGranularityMs: 1,
    ttlMsMin: TTL_MS_MIN,
    wakeDelayMsMax: dialect.pollMs,
    waitersPerKeyMax: settings.waitersPerKeyMax,
    queueSurvivesRestart: true,
    history: true,
  })
}

/** An engine on a database that is open. It makes its tables if they are not there, and closes it in the end. */
export async function openSqlEngine(
  open: () => Promise<SqlDatabase>,
  options: SqlOptions = {},
): Promise<SqlEngine> {
  const settings = Object.freeze({
    ...DEFAULT_SETTINGS,
    openPatienceMs: OPEN_PATIENCE_MS,
    ...options.settings,
  })
  const problem = problemWithSettings(settings)
  if (problem !== undefined) throw toInvalidArgument({ kind: 'open' }, problem)
  const database = await open().catch((error: unknown) => {
    throw toUnavailable(error, 'no')
  })
  try {
    await migrate(database)
    const clock = options.clock ?? new SystemClock()
    return await SqlEngine.open({
      database,
      law: options.law ?? decide,
      settings,
      capabilities: capabilitiesOf(database, settings),
      clock,
      announceAs: options.announceAs,
      nowMs: options.isClockOurs ? () => Math.floor(clock.nowMs()) : undefined,
    })
  } catch (error) {
    await database.close()
    const isRefusal = database.dialect.classify(error) === 'other'
    throw isRefusal ? toRefused(error, 'no') : toUnavailable(error, 'no')
  }
}

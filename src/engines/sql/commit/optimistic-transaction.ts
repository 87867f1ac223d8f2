import { silentAtMs } from '../../../law/sessions.ts'
import type { Session } from '../../../law/model/view.ts'
import { GUESS_MS_MAX } from './database-clock.ts'
import { decideJobs, type WorkResult } from './decide-jobs.ts'
import { sessionsOf } from './job-sessions.ts'
import { keyOf } from '../snapshot/key-loader.ts'
import type { KeyJob, KeyWorkOptions } from './key-run.ts'
import type { KeySnapshot } from '../snapshot/key-snapshot.ts'
import type { SnapshotCache } from '../snapshot/snapshot-cache.ts'
import type { Connection, OptimisticTerms, KeyName, SqlDialect } from '../sql-dialect.ts'
import { joined, type Statement, statement, words } from '../statement.ts'
import type { TransactionContext } from './transaction-context.ts'
import type { Guess } from './transactor.ts'
import { isWatchedBy } from '../notify/watch-notice.ts'

export interface OptimisticTransactionOptions {
  readonly work: KeyWorkOptions
  readonly cache: SnapshotCache
}

/** Sessions that are kept in mind. */
const SESSIONS_MAX = 1_024

/**
 * Decisions of the process that changed a key last. It knows the key, and decides without looking; the
 * database is sent the whole transaction at once, and refuses it unless everything was as it was guessed:
 * nobody has changed the key, its sessions were not heard of since, nobody has begun to watch, and the clock
 * shows what it was taken to show.
 */
export class OptimisticTransaction {
  readonly #options: OptimisticTransactionOptions
  /** As they were when they were looked at last. */
  readonly #sessions = new Map<string, Session>()
  #isWatched = true

  constructor(options: OptimisticTransactionOptions) {
    this.#options = options
  }

  /** What a transaction found that looked. */
  note({ isWatched, sessions }: TransactionContext): void {
    this.#isWatched = isWatched
    for (const [id, session] of sessions) {
      this.#sessions.delete(id)
      if (session !== undefined) this.#sessions.set(id, session)
    }
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size <= SESSIONS_MAX) break
      this.#sessions.delete(oldest)
    }
  }

  /** `undefined` where too little is known. */
  async guess(jobs: readonly KeyJob[]): Promise<Guess<WorkResult> | undefined> {
    const { cache, work } = this.#options
    const { dialect, clock } = work
    const names = [...new Map(jobs.map(({ name }) => [keyOf(name), name])).values()]
    const isPossible = canRefute(dialect) && this.#areKnown(names) && !jobs.some(({ also }) => also)
    const clockMs = isPossible ? clock.guess() : undefined
    if (!isPossible || clockMs === undefined) return undefined
    const sessions = this.#findSessions(sessionsOf(jobs, cache), clockMs)
    if (sessions === undefined) return undefined
    const asked = clock.asking()
    const snapshots = names.flatMap((name) => cache.takeUnseen(name) ?? [])
    const nowMs = Math.max(clockMs, ...snapshots.map(({ decidedAtMs }) => decidedAtMs))
    const context = this.#toContext(nowMs, sessions)
    for (const snapshot of snapshots) snapshot.reopen(context)
    // The clock is read when nothing has to be waited for any more.
    const guards = [
      lockUnchanged(dialect, snapshots),
      ...(sessions.size > 0 ? [lockSessions(dialect, [...sessions.values()])] : []),
      this.#selectState(dialect, context),
    ]
    try {
      const { last, toResult } = await decideJobs(jobs, {
        options: work,
        cache,
        context,
        snapshots,
      })
      return {
        statements: [...guards, ...last],
        toResult: (found) => {
          const state = found[guards.length - 1]
          this.#isWatched = isWatchedBy(state, asked.toNowMs(state))
          return toResult(found.slice(guards.length))
        },
        onRefuted: () => cache.doubt(names),
      }
    } catch (error) {
      if (error instanceof UnknownPart) return undefined
      throw error
    }
  }

  #areKnown(names: readonly KeyName[]): boolean {
    const { cache } = this.#options
    return names.every((name) => cache.isTrusted(name) && cache.peek(name)?.isWhole)
  }

  /** `undefined` if one of them is not known, or may be over before the guess is there. */
  #findSessions(ids: ReadonlySet<string>, nowMs: number): Map<string, Session> | undefined {
    const found = new Map<string, Session>()
    for (const id of ids) {
      const session = this.#sessions.get(id)
      if (session === undefined || silentAtMs(session) <= nowMs + GUESS_MS_MAX) return undefined
      found.set(id, session)
    }
    return found
  }

  #toContext(nowMs: number, sessions: Map<string, Session>): TransactionContext {
    const { dialect, settings, process } = this.#options.work
    return {
      get db(): Connection {
        throw new UnknownPart()
      },
      dialect,
      settings,
      process,
      nowMs,
      isReading: false,
      isWatched: this.#isWatched,
      // Only for keys that nothing is known of.
      floor: 0,
      sessions,
    }
  }

  #selectState(dialect: RefutingDialect, { isWatched, nowMs }: TransactionContext): Statement {
    const isTime = this.#options.work.clock.isGood(nowMs)
    const isSame = isWatched ? isTime : statement`${isTime} and watched <= ${nowMs}`
    return selectUnless(dialect, isSame)
  }
}

/** A decision needs something that is not known. */
class UnknownPart extends Error {}

type RefutingDialect = SqlDialect & { readonly guess: OptimisticTerms }

function canRefute(dialect: SqlDialect): dialect is RefutingDialect {
  return dialect.guess !== undefined
}

/**
 * Locks these keys, and fails unless they are as they are known. Versions only go up, and no id is used
 * twice: with as many rows and the same sum, none has changed.
 */
function lockUnchanged(
  { guess, useIndex, forUpdate }: RefutingDialect,
  snapshots: readonly KeySnapshot[],
): Statement {
  const ids = joined(snapshots.map(({ id }) => id))
  const total = snapshots.reduce((sum, { version }) => sum + version, 0)
  const from = words(`holdfast_keys ${useIndex('primary')}`)
  const rows = statement`
    select version from ${from} where id in (${ids}) order by space, name ${words(forUpdate)}`
  const isSame = statement`found = ${snapshots.length} and total = ${total}`
  return statement`
    select ${guess.failUnless(isSame)} as guessed
    from (select count(*) as found, sum(version) as total from (${rows}) locked) counted`
}

/** Keeps these sessions from ending, and fails unless they are as they are known. */
function lockSessions(
  { guess, useIndex, forShare }: RefutingDialect,
  sessions: readonly Session[],
): Statement {
  const from = words(`holdfast_sessions ${useIndex('primary')}`)
  const same = sessions.map(
    ({ id, heardAtMs }) => statement`(id = ${id} and heard_at_ms = ${heardAtMs} and ended = 0)`,
  )
  const rows = statement`select id from ${from} where ${joined(same, ' or ')} ${words(forShare)}`
  return statement`
    select ${guess.failUnless(statement`found = ${sessions.length}`)} as guessed
    from (select count(*) as found from (${rows}) locked) counted`
}

/** Reads what is true of all keys, and fails unless this holds. */
function selectUnless({ guess, watch, nowMs }: RefutingDialect, condition: Statement): Statement {
  return statement`
    select watched, now, ${guess.failUnless(condition)} as guessed
    from (
      select ${words(watch.untilMs)} as watched, ${words(nowMs)} as now
      from holdfast_state where id = 1
    ) state`
}

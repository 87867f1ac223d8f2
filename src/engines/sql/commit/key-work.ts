import type { Selectable } from 'kysely'
import type { KeyCommand } from '../../../law/model/commands.ts'
import { isRefusedForGood } from '../../../law/release.ts'
import { decideJobs, type WorkResult } from './decide-jobs.ts'
import { OptimisticTransaction } from './optimistic-transaction.ts'
import { sessionsOf } from './job-sessions.ts'
import {
  BRIEFLY,
  completeRows,
  keyOf,
  loadKeys,
  loadSessionsOf,
  lockKeys,
  selectParts,
} from '../snapshot/key-loader.ts'
import { selectSessions, takeSessions } from '../snapshot/key-parts.ts'
import type { KeyJob, KeyWorkOptions } from './key-run.ts'
import type { KeySnapshot } from '../snapshot/key-snapshot.ts'
import type { KeyTable, LockedRow } from '../schema/schema.ts'
import { SnapshotCache } from '../snapshot/snapshot-cache.ts'
import type { Connection, KeyName } from '../sql-dialect.ts'
import { type Rows, type Statement, statement, words } from '../statement.ts'
import type { TransactionContext } from './transaction-context.ts'
import type { Guess, Script } from './transactor.ts'
import { isWatchedBy } from '../notify/watch-notice.ts'

/** Whether an absent key may have a row after a command. The others find nothing there and change nothing. */
function makesKey(command: KeyCommand): boolean {
  if (command.kind === 'release' || command.kind === 'finish') {
    return isRefusedForGood(command)
  }
  if (command.kind === 'cancel') return command.requestId !== undefined
  return command.kind === 'acquire' || command.kind === 'begin'
}

/** Transactions that decide on keys: lock, load, ask the law, write. */
export class KeyWork {
  readonly #options: KeyWorkOptions
  readonly #cache = new SnapshotCache()
  readonly #guesswork: OptimisticTransaction

  constructor(options: KeyWorkOptions) {
    this.#options = options
    this.#guesswork = new OptimisticTransaction({ work: options, cache: this.#cache })
  }

  /** For one round trip: the whole transaction, without having looked. `undefined` where too little is known. */
  guess(jobs: readonly KeyJob[]): Promise<Guess<WorkResult> | undefined> {
    return this.#guesswork.guess(jobs)
  }

  /** What is asked first is all that a decision on keys known from before needs: it takes two round trips. */
  plan(jobs: readonly KeyJob[]): Script<WorkResult> {
    const { dialect } = this.#options
    const { wanted, known } = namesOf(jobs)
    const names = [...wanted, ...known]
    const sessions = sessionsOf(jobs, this.#cache)
    const selects =
      sessions.size > 0 ? [selectSessions({ dialect, isReading: false }, sessions)] : []
    const isTrusted = names.every((name) => this.#cache.isTrusted(name))
    const lock = lockKeys(dialect, names, isTrusted ? BRIEFLY : '*')
    // What may be needed is asked for with it, unless to ask for it later costs nothing.
    const parts = isTrusted || dialect.guess === undefined ? [] : selectParts(names)
    const asked = this.#options.clock.asking()
    return {
      first: [lock, ...selects, ...parts, this.#state],
      work: async (db, found) => {
        const locked = (found[0] ?? []) as unknown as FoundRow[]
        const { rows, state } = await this.#makeMissing(db, { wanted, locked })
        const stateRows = state ?? found.at(-1)
        const nowMs = asked.toNowMs(stateRows)
        const context = this.#toContext(db, stateRows, { isReading: false, nowMs })
        if (sessions.size > 0) takeSessions(context, sessions, found[1] ?? [])
        // A key that was missing may have been made by somebody else, who was not done when that was asked.
        const isAsked = parts.length > 0 && state === undefined
        const snapshots = await this.#load(
          context,
          rows,
          isAsked ? found.slice(1 + selects.length) : undefined,
        )
        this.#guesswork.note(context)
        return decideJobs(jobs, {
          options: this.#options,
          cache: this.#cache,
          context,
          snapshots,
        })
      },
    }
  }

  /** Keys that are known from before as they were left, and the others as they stand in the tables. */
  async #load(
    context: TransactionContext,
    rows: readonly FoundRow[],
    parts: readonly Rows[] | undefined,
  ): Promise<KeySnapshot[]> {
    const kept: KeySnapshot[] = []
    const whole: KeyRow[] = []
    const brief: LockedRow[] = []
    for (const row of rows) {
      const snapshot = this.#cache.take(row)
      if (snapshot !== undefined) {
        snapshot.reopen(context)
        kept.push(snapshot)
      } else if ('token' in row) whole.push(row)
      else brief.push(row)
    }
    await loadSessionsOf(context, kept)
    const loaded = [...whole, ...(await completeRows(context, brief))]
    return [...kept, ...(await loadKeys(context, loaded, parts))]
  }

  /** Keys that are wanted and have no row get one. The time is read again: that may have had to wait. */
  async #makeMissing(
    db: Connection,
    {
      wanted,
      locked,
    }: { readonly wanted: readonly KeyName[]; readonly locked: readonly FoundRow[] },
  ): Promise<{ readonly rows: readonly FoundRow[]; readonly state?: Rows | undefined }> {
    const there = new Set(locked.map(keyOf))
    const missing = wanted.filter((name) => !there.has(keyOf(name)))
    if (missing.length === 0) return { rows: locked }
    const { dialect } = this.#options
    const found = await dialect.run(db, [...dialect.insertKeys(missing), this.#state])
    const made = (found.at(-2) ?? []) as unknown as KeyRow[]
    return { rows: [...locked, ...made], state: found.at(-1) }
  }

  /** Asked when the keys are locked: a transaction that had to wait sees the time after that. */
  get #state(): Statement {
    return this.#selectState(this.#options.dialect.watch.untilMs)
  }

  #selectState(watched: string): Statement {
    return statement`
      select floor, ${words(watched)} as watched, ${words(this.#options.dialect.nowMs)} as now
      from holdfast_state where id = 1`
  }

  async context(
    db: Connection,
    { isReading }: { readonly isReading: boolean },
  ): Promise<TransactionContext> {
    const { dialect, clock } = this.#options
    // Who decides nothing tells nobody.
    const [state] = await dialect.run(db, [this.#selectState('0')])
    return this.#toContext(db, state, { isReading, nowMs: clock.toNowMs(state) })
  }

  #toContext(
    db: Connection,
    rows: Rows | undefined,
    { isReading, nowMs }: { readonly isReading: boolean; readonly nowMs: number },
  ): TransactionContext {
    const { dialect, settings, process } = this.#options
    const [state] = (rows ?? []) as unknown as StateRow[]
    if (state === undefined) throw new Error('holdfast_state has lost its row')
    const isWatched = isWatchedBy(rows, nowMs)
    const sessions: TransactionContext['sessions'] = new Map()
    const { floor } = state
    return { db, dialect, settings, process, nowMs, isReading, isWatched, floor, sessions }
  }
}

type KeyRow = Selectable<KeyTable>

/** A row that was locked, whole or brief. */
type FoundRow = KeyRow | LockedRow

interface StateRow {
  readonly floor: number
}

function namesOf(jobs: readonly KeyJob[]): { wanted: KeyName[]; known: KeyName[] } {
  const wanted = new Map<string, KeyName>()
  const known = new Map<string, KeyName>()
  for (const { name, command } of jobs) {
    const names = makesKey(command) ? wanted : known
    names.set(keyOf(name), name)
  }
  for (const key of wanted.keys()) known.delete(key)
  return { wanted: sorted(wanted), known: sorted(known) }
}

function sorted(names: ReadonlyMap<string, KeyName>): KeyName[] {
  return [...names].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, name]) => name)
}

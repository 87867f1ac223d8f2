import { sql } from 'kysely'
import { toDefect } from '../../engine/engine-errors.ts'
import type { KeyCommand } from '../../law/commands.ts'
import type { Law } from '../../law/decide.ts'
import type { LawEvent } from '../../law/events.ts'
import { ownerOf } from '../../law/operations.ts'
import type { Outcome } from '../../law/outcomes.ts'
import type { LawSettings } from '../../law/settings.ts'
import { writeEvents, writeLetters } from './letters.ts'
import { ABSENT_KEY } from './absent-key.ts'
import { keyOf, loadKeys, lockKeys } from './key-loader.ts'
import { loadPart } from './key-parts.ts'
import { type Asker, type Departure, KeySnapshot } from './key-snapshot.ts'
import { writeKeys } from './key-writer.ts'
import type { DatabaseClock } from './database-clock.ts'
import { MissingPart } from './missing-part.ts'
import { orNever } from './row-codec.ts'
import { SnapshotCache } from './snapshot-cache.ts'
import type { Connection, KeyName, SqlDialect } from './sql-dialect.ts'
import type { TransactionContext } from './transaction-context.ts'

/** One command on one key. */
export interface KeyJob {
  readonly name: KeyName
  readonly command: KeyCommand
  /** Where a call is held open for it. */
  readonly asker?: Asker | undefined
  /** Something that is to happen in the same transaction, once the outcome is known. */
  readonly also?: ((context: TransactionContext, outcome: Outcome) => Promise<void>) | undefined
}

/** Whose call was answered by the decisions of a transaction. */
export interface Settled {
  readonly name: KeyName
  readonly departure: Departure
}

export interface WorkResult {
  /** In the order of the jobs. */
  readonly outcomes: readonly Outcome[]
  readonly settled: readonly Settled[]
  readonly nowMs: number
  /** The soonest moment at which anything of these keys is due. */
  readonly dueAtMs: number
  /** Something was written that watchers are to be told. */
  readonly hasEvents: boolean
  /** To be called when the transaction has committed, and only then. */
  readonly onCommitted: () => void
}

export interface KeyWorkOptions {
  readonly law: Law
  readonly settings: LawSettings
  readonly dialect: SqlDialect
  readonly process: string
  readonly clock: DatabaseClock
  /** Whether a call is held open here for a waiter that is about to be told. */
  readonly isOpenHere: (name: KeyName, departure: Departure) => boolean
}

/** Commands after which an absent key may have a row. The others find nothing there and change nothing. */
const MAKES_KEY: ReadonlySet<KeyCommand['kind']> = new Set(['acquire', 'begin', 'cancel'])

/** Decides on keys inside a transaction: lock, load, ask the law, write. */
export class KeyWork {
  readonly #options: KeyWorkOptions
  readonly #cache = new SnapshotCache()

  constructor(options: KeyWorkOptions) {
    this.#options = options
  }

  async run(db: Connection, jobs: readonly KeyJob[]): Promise<WorkResult> {
    const rows = await lockKeys(db, this.#options.dialect, namesOf(jobs))
    const context = await this.context(db, { isReading: false })
    const sessions = sessionsOf(jobs)
    const snapshots = await loadKeys(context, rows, { cache: this.#cache, sessions })
    const run = new KeyRun(this.#options, context, snapshots)
    const outcomes: Outcome[] = []
    for (const job of jobs) {
      const outcome = await run.decide(job)
      await job.also?.(context, outcome)
      outcomes.push(outcome)
    }
    const dueAtMs = await run.write()
    const { settled, hasEvents } = run
    const onCommitted = (): void => run.keep(this.#cache)
    return { outcomes, settled, nowMs: context.nowMs, dueAtMs, hasEvents, onCommitted }
  }

  /** Read when the keys are locked: a transaction that had to wait sees the time after that. */
  async context(
    db: Connection,
    { isReading }: { readonly isReading: boolean },
  ): Promise<TransactionContext> {
    const { dialect, settings, process } = this.#options
    const { rows } = await sql<{ floor: number; watched: number; now: number }>`
      select floor, watched_until_ms as watched, ${dialect.nowMs} as now
      from holdfast_state where id = 1`.execute(db)
    const [state] = rows
    if (state === undefined) throw new Error('holdfast_state has lost its row')
    const nowMs = this.#options.clock.orFixed(Number(state.now))
    const isWatched = state.watched > nowMs
    return {
      db,
      dialect,
      settings,
      process,
      nowMs,
      isReading,
      isWatched,
      floor: state.floor,
      sessions: new Map(),
    }
  }
}

function namesOf(jobs: readonly KeyJob[]): { wanted: KeyName[]; known: KeyName[] } {
  const wanted = new Map<string, KeyName>()
  const known = new Map<string, KeyName>()
  for (const { name, command } of jobs) {
    const names = MAKES_KEY.has(command.kind) ? wanted : known
    names.set(keyOf(name), name)
  }
  for (const key of wanted.keys()) known.delete(key)
  return { wanted: sorted(wanted), known: sorted(known) }
}

function sorted(names: ReadonlyMap<string, KeyName>): KeyName[] {
  return [...names].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, name]) => name)
}

function sessionsOf(jobs: readonly KeyJob[]): Set<string> {
  const sessions = new Set<string>()
  for (const { command } of jobs) {
    if ((command.kind === 'acquire' || command.kind === 'begin') && command.session !== undefined) {
      sessions.add(command.session)
    }
  }
  return sessions
}

const STAYS: ReturnType<Law> = {
  changes: [],
  outcome: { kind: 'cancelled', cancelled: false },
  events: [],
}

/** The decisions of one transaction. */
class KeyRun {
  readonly settled: Settled[] = []
  readonly #options: KeyWorkOptions
  readonly #context: TransactionContext
  readonly #snapshots = new Map<string, KeySnapshot>()
  readonly #events: LawEvent[] = []
  #due: ReadonlyMap<KeySnapshot, number> = new Map()

  constructor(
    options: KeyWorkOptions,
    context: TransactionContext,
    snapshots: readonly KeySnapshot[],
  ) {
    this.#options = options
    this.#context = context
    for (const snapshot of snapshots) {
      this.#snapshots.set(keyOf({ space: snapshot.namespace, name: snapshot.key }), snapshot)
    }
  }

  get hasEvents(): boolean {
    return this.#events.length > 0
  }

  async decide({ name, command, asker }: KeyJob): Promise<Outcome> {
    const snapshot = this.#snapshotOf(name)
    for (const session of this.#sessionsOver(snapshot)) {
      if (command.kind === 'leave' && command.session === session) continue
      await this.#decideOne(snapshot, { kind: 'leave', session }, undefined)
    }
    return this.#decideOne(snapshot, command, asker)
  }

  /** What a session had whose time is over is gone before anything else is decided. */
  #sessionsOver({ held, queue }: KeySnapshot): Set<string> {
    const over = new Set<string>()
    const { sessions } = this.#context
    for (const { session } of [...held.known(), ...queue.known]) {
      if (session !== undefined && sessions.has(session) && sessions.get(session) === undefined) {
        over.add(session)
      }
    }
    return over
  }

  async #decideOne(
    snapshot: KeySnapshot,
    command: KeyCommand,
    asker: Asker | undefined,
  ): Promise<Outcome> {
    const { changes, outcome, events } = await this.#ask(snapshot, command)
    const departures = snapshot.apply(changes, asker)
    this.#events.push(...events)
    const name = { space: snapshot.namespace, name: snapshot.key }
    for (const departure of departures) {
      this.settled.push({ name, departure })
      if (departure.answer.kind !== 'granted') continue
      if (!this.#options.isOpenHere(name, departure)) continue
      await this.#takeGrant(snapshot, departure)
    }
    return outcome
  }

  /**
   * The call is held open by this very process and is answered when the transaction has committed: its
   * owner knows of the grant then, and whatever becomes of this process must not undo it.
   */
  async #takeGrant(snapshot: KeySnapshot, { waiter, answer }: Departure): Promise<void> {
    if (answer.kind !== 'granted') return
    const { owner, ttlMs } = waiter
    await this.#decideOne(
      snapshot,
      { kind: 'renew', key: snapshot.key, owner, ttlMs, token: answer.token },
      undefined,
    )
  }

  /**
   * A client that broke its connection to this process and went to another one asks there with the same
   * request. What this process concludes of its silence means nothing then.
   */
  #isHeldElsewhere(snapshot: KeySnapshot, command: KeyCommand): boolean {
    if (command.kind !== 'cancel' && command.kind !== 'withdraw') return false
    if (command.reason !== 'abandoned') return false
    const isLock = command.kind === 'cancel'
    const owner = isLock ? command.owner : ownerOf(command)
    const requestId = isLock ? command.requestId : undefined
    return snapshot.queue.waitersOf(owner).some((waiter) => {
      if (requestId !== undefined && waiter.requestId !== requestId) return false
      return waiter.process !== undefined && waiter.process !== this.#options.process
    })
  }

  /** The law is pure: where it misses something of the key, that is loaded and the law is asked again. */
  async #ask(snapshot: KeySnapshot, command: KeyCommand): Promise<ReturnType<Law>> {
    for (;;) {
      try {
        if (this.#isHeldElsewhere(snapshot, command)) return STAYS
        return this.#options.law(snapshot, command, this.#context.nowMs)
      } catch (error) {
        if (!(error instanceof MissingPart)) throw toDefect(command, error)
        await loadPart(this.#context, snapshot, error.part)
      }
    }
  }

  #snapshotOf(name: KeyName): KeySnapshot {
    const key = keyOf(name)
    let snapshot = this.#snapshots.get(key)
    if (snapshot === undefined) {
      snapshot = new KeySnapshot({ ...ABSENT_KEY, ...name }, this.#context)
      this.#snapshots.set(key, snapshot)
    }
    return snapshot
  }

  /** Returns when the first of these keys is due. */
  async write(): Promise<number> {
    const context = this.#context
    const snapshots = [...this.#snapshots.values()].filter(({ id }) => id !== ABSENT_KEY.id)
    // What was due has been looked at: it is due at another time now, or never.
    for (const one of snapshots) if (one.hasDue(context.nowMs)) one.isChanged = true
    const due = await writeKeys(context, snapshots)
    this.#due = due
    await removeEmpty(context, snapshots)
    await writeEvents(context, this.#events)
    await writeLetters(context, this.settled)
    return Math.min(Infinity, ...due.values())
  }

  /** The transaction has committed: what is known of its keys is true until somebody changes them. */
  keep(cache: SnapshotCache): void {
    const { nowMs } = this.#context
    for (const snapshot of this.#snapshots.values()) {
      if (snapshot.id === ABSENT_KEY.id || snapshot.isEmpty(nowMs)) continue
      const dueAtMs = this.#due.get(snapshot)
      snapshot.commit(nowMs, dueAtMs === undefined ? snapshot.storedDueAtMs : orNever(dueAtMs))
      cache.keep(snapshot)
    }
  }
}

/** A key that has nothing any more costs nothing. Its tokens are not used again: the floor rises. */
async function removeEmpty(
  { db, floor, nowMs }: TransactionContext,
  snapshots: readonly KeySnapshot[],
): Promise<void> {
  const empty = snapshots.filter((one) => one.isEmpty(nowMs))
  if (empty.length === 0) return
  const ids = empty.map(({ id }) => id)
  await db.deleteFrom('holdfast_keys').where('id', 'in', ids).execute()
  const highest = Math.max(...empty.map(({ token }) => token))
  if (highest <= floor) return
  await db
    .updateTable('holdfast_state')
    .set({ floor: highest })
    .where('id', '=', 1)
    .where('floor', '<', highest)
    .execute()
}

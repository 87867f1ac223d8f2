import { toDefect } from '../../../engine/errors/engine-errors.ts'
import type { KeyCommand } from '../../../law/model/commands.ts'
import type { Law } from '../../../law/decide.ts'
import type { LawEvent } from '../../../law/model/events.ts'
import type { Outcome } from '../../../law/model/outcomes.ts'
import { losesHolds, losesPlaces } from '../../../law/sessions.ts'
import type { LawSettings } from '../../../law/model/settings.ts'
import { ABSENT_KEY } from '../snapshot/absent-key.ts'
import type { DatabaseClock } from './database-clock.ts'
import { keyOf } from '../snapshot/key-loader.ts'
import { findLastLease, loadAll, loadPart } from '../snapshot/key-parts.ts'
import { type Asker, type Departure, KeySnapshot } from '../snapshot/key-snapshot.ts'
import { removeEmpty, writeKeys } from '../snapshot/key-writer.ts'
import { writeEvents, writeLetters } from '../notify/notifications.ts'
import { MissingPart } from '../snapshot/missing-part.ts'
import { orNever } from '../snapshot/row-codec.ts'
import type { SnapshotCache } from '../snapshot/snapshot-cache.ts'
import type { KeyName, SqlDialect } from '../sql-dialect.ts'
import type { Rows, Statement } from '../statement.ts'
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

export interface KeyWorkOptions {
  readonly law: Law
  readonly settings: LawSettings
  readonly dialect: SqlDialect
  readonly process: string
  readonly clock: DatabaseClock
}

/** Parts that are loaded one by one before everything is. */
const PARTS_MAX = 16

const STAYS: ReturnType<Law> = {
  changes: [],
  outcome: { kind: 'cancelled', cancelled: false },
  events: [],
}

/** The decisions of one transaction. */
export class KeyRun {
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
      this.#snapshots.set(keyOf(snapshot.name), snapshot)
    }
  }

  get hasEvents(): boolean {
    return this.#events.length > 0
  }

  async decide({ name, command, asker }: KeyJob): Promise<Outcome> {
    const snapshot = this.#snapshotOf(name)
    await this.#lookForSilent(command)
    for (const session of this.#sessionsThatLeave(snapshot)) {
      if (command.kind === 'leave' && command.session === session) continue
      await this.#decideOne(snapshot, { kind: 'leave', session }, undefined)
    }
    return this.#decideOne(snapshot, command, asker)
  }

  /** A silent client that holds nothing has no session any more, even if no process has settled it yet. */
  async #lookForSilent(command: KeyCommand): Promise<void> {
    if (command.kind !== 'acquire' && command.kind !== 'begin') return
    const { sessions, nowMs } = this.#context
    const session = sessions.get(command.session ?? '')
    if (session === undefined || !losesPlaces(session, nowMs)) return
    const lastLeaseAtMs = await findLastLease(this.#context.db, session)
    if (lastLeaseAtMs <= nowMs) sessions.set(session.id, undefined)
  }

  /** What an ended session or a silent client loses is gone before anything else is decided. */
  #sessionsThatLeave({ held, queue }: KeySnapshot): Set<string> {
    const { sessions, nowMs } = this.#context
    const leaving = new Set<string>()
    if (sessions.size === 0) return leaving
    const look = (id: string | undefined, loses: typeof losesHolds): void => {
      if (id !== undefined && sessions.has(id) && loses(sessions.get(id), nowMs)) leaving.add(id)
    }
    for (const { session } of held.known()) look(session, losesHolds)
    for (const { session } of queue.known) look(session, losesPlaces)
    return leaving
  }

  async #decideOne(
    snapshot: KeySnapshot,
    command: KeyCommand,
    asker: Asker | undefined,
  ): Promise<Outcome> {
    const { changes, outcome, events } = await this.#ask(snapshot, command)
    const departures = snapshot.apply(changes, asker)
    if (this.#context.isWatched) this.#events.push(...events)
    const { name } = snapshot
    for (const departure of departures) {
      this.settled.push({ name, departure })
      if (departure.answer.kind === 'granted') snapshot.held.noteTeller(departure.waiter)
    }
    return outcome
  }

  /**
   * A client that broke its connection to this process and went to another one asks there with the same
   * request, or was told there. What this process concludes of its silence means nothing then.
   */
  #isHeldElsewhere(snapshot: KeySnapshot, command: KeyCommand): boolean {
    if (command.kind !== 'cancel' || command.reason !== 'abandoned') return false
    const { owner } = command
    const requestId = command.namespace === 'operation' ? undefined : command.requestId
    const waiters = snapshot.queue
      .waitersOf(owner)
      .filter((waiter) => requestId === undefined || waiter.requestId === requestId)
    const processes = waiters.map(({ process }) => process)
    return [...processes, ...snapshot.held.tellersOf(owner, requestId)].some(
      (process) => process !== undefined && process !== this.#options.process,
    )
  }

  /**
   * The law is pure: where it misses something of the key, that is loaded and the law is asked again. A
   * decision that concerns very many would be asked for as often; it gets all there is.
   */
  async #ask(snapshot: KeySnapshot, command: KeyCommand): Promise<ReturnType<Law>> {
    for (let asked = 1; ; asked += 1) {
      try {
        if (this.#isHeldElsewhere(snapshot, command)) return STAYS
        return this.#options.law(snapshot, command, this.#context.nowMs)
      } catch (error) {
        if (!(error instanceof MissingPart)) throw toDefect(command, error)
        if (asked === PARTS_MAX) await loadAll(this.#context, snapshot)
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

  write(): Written {
    const context = this.#context
    const snapshots = [...this.#snapshots.values()].filter(({ id }) => id !== ABSENT_KEY.id)
    // What was due has been looked at: it is due at another time now, or never.
    for (const one of snapshots) if (one.hasDue(context.nowMs)) one.isChanged = true
    const keys = writeKeys(context, snapshots)
    const last = [
      ...removeEmpty(context, snapshots),
      ...writeEvents(context, this.#events),
      ...writeLetters(context, this.settled),
    ]
    return {
      last: [...keys.statements, ...last],
      dueAtMsOf: (found) => {
        this.#due = keys.dueOf(found[keys.statements.length - 1] ?? [])
        return Math.min(Infinity, ...this.#due.values())
      },
    }
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

interface Written {
  readonly last: readonly Statement[]
  /** The soonest moment at which one of these keys is due, from what all those statements found. */
  dueAtMsOf(found: readonly Rows[]): number
}

import type { Capabilities } from '../../engine/capabilities.ts'
import type {
  Answer,
  ApplyOptions,
  LockEngine,
  WatchFilter,
  Watching,
  WatchListener,
} from '../../engine/engine.ts'
import {
  toAborted,
  toClosed,
  toDefect,
  toInvalidArgument,
} from '../../engine/errors/engine-errors.ts'
import type { LockError } from '../../engine/errors/errors.ts'
import type { HistoryReply, Query, ReplyOf, StatsReply } from '../../engine/queries.ts'
import { problemWithQuery } from '../../engine/validation/query-check.ts'
import { Watchers } from '../../engine/watchers.ts'
import { unreachable } from '../../law/assert.ts'
import type { Command, SessionCommand, Unref } from '../../law/model/commands.ts'
import type { LawEvent } from '../../law/model/events.ts'
import type { Outcome } from '../../law/model/outcomes.ts'
import { decideSession } from '../../law/sessions.ts'
import { problemWith } from '../../engine/validation/validate.ts'
import { isToldOf, OpenWaits, type WaitStep } from '../../engine/waits/open-waits.ts'
import {
  isHeldOpen,
  nameOfPlace,
  toCancel,
  type WaitingCommand,
} from '../../engine/waits/waiting-command.ts'
import type { Clock } from '../../time/clock.ts'
import type { HoldHistory } from './history/hold-history.ts'
import type { LockTable } from './table/lock-table.ts'
import type { SessionRecord } from './table/session-record.ts'
import { findState, readTable } from './table/table-queries.ts'
import type { TableStore } from './table-store.ts'
import type { Journal } from './journal/journal.ts'
import { Alarm } from './alarm.ts'
import { Expiry } from './expiry.ts'
import { FullDisk } from './full-disk.ts'
import type { RecoveryClock } from './recovery-clock.ts'
import type { WaiterRecord } from './table/waiter-record.ts'

export interface TableEngineParts {
  readonly table: LockTable
  readonly clock: Clock
  readonly capabilities: Capabilities
  /** Absent for an engine that keeps nothing. */
  readonly storage?: TableStorage | undefined
  /** Absent where nobody is to ask for it. */
  readonly history?: HoldHistory | undefined
  /** Called once the engine is closed, to give back what it was opened with. */
  readonly onClosed?: (() => Promise<void>) | undefined
}

/** Where the table is kept; its clock is the one of the engine. */
export interface TableStorage {
  readonly journal: Journal
  readonly store: TableStore
  readonly clock: RecoveryClock
  /** A table with what is durable and nothing else, every lease at full length. */
  readonly readDurable: () => Promise<LockTable>
}

/** The events of one decision, and the time of day at which it was made. */
interface Untold {
  readonly events: readonly LawEvent[]
  readonly atMs: number
}

const NO_HISTORY: HistoryReply = Object.freeze({ ends: Object.freeze([]) })

/**
 * The embedded engine: the table in memory, decisions one after the other in this thread, and, where it is
 * durable, a journal that is synced before anyone is answered.
 *
 * A command is checked, what has expired is ended, the law decides, the changes are applied and their
 * record appended; the answer goes out when the record is on disk. Waiting calls are held open beside the
 * waiters of the table.
 */
export class TableEngine implements LockEngine {
  readonly capabilities: Capabilities
  readonly #table: LockTable
  readonly #clock: Clock
  readonly #watchers: Watchers
  readonly #waits: OpenWaits
  readonly #expiry: Expiry
  readonly #alarm: Alarm
  readonly #journal: Journal | undefined
  readonly #store: TableStore | undefined
  /** The batch of the journal that has the latest record, while it is on its way to the disk. */
  #batch: Promise<void> | undefined
  /** Resolves when that batch is durable; rejects with the error for callers of the engine. */
  #durable: Promise<void> | undefined
  /** What watchers hear once that batch is durable. */
  #untold: Untold[] = []
  readonly #history: HoldHistory | undefined
  readonly #onClosed: (() => Promise<void>) | undefined
  readonly #fullDisk: FullDisk | undefined
  /** Requests whose calls were ended because the disk was full; they leave the queue when it has room. */
  #abandoned: WaitingCommand[] = []
  /** What watchers hear when the disk has room. */
  #kept: Untold[] = []
  #failure: LockError | undefined
  #closing: Promise<void> | undefined

  constructor(parts: TableEngineParts) {
    const { table, clock, storage, history } = parts
    this.capabilities = parts.capabilities
    this.#table = table
    this.#clock = clock
    this.#journal = storage?.journal
    this.#store = storage?.store
    this.#history = history
    this.#onClosed = parts.onClosed
    this.#watchers = new Watchers()
    this.#expiry = new Expiry(table)
    this.#alarm = new Alarm(this.#expiry, clock, () => this.#onAlarm())
    this.#waits = new OpenWaits({
      clock,
      decide: (request, step) => this.#step(request, step),
      onCount: (count) => this.#alarm.keepAlive(count > 0),
    })
    table.listener = {
      decided: (state, { changes, events }, nowMs) => {
        this.#append(storage?.store.recordOf(state, changes))
        const isHeard = events.length > 0 && !this.#watchers.isEmpty
        if (history === undefined && !isHeard) return
        const wallMs = clock.wallMs()
        if (history !== undefined) history.note(state, changes, { nowMs, wallMs })
        if (isHeard) this.#tell(events, wallMs)
      },
      settled: (waiter, answer) => this.#settle(waiter, answer),
      sessionEnded: (id) => this.#append(storage?.store.recordOfSessionEnd(id)),
    }
    this.#fullDisk = storage && this.#watchDisk(storage)
    this.#alarm.set()
  }

  apply<C extends Command>(command: C, options?: ApplyOptions): Answer<C>
  apply(command: Command, options?: ApplyOptions): Outcome | Promise<Outcome> {
    const answer = this.#decide(command, options)
    return answer instanceof Promise ? answer : this.#whenDurable(answer)
  }

  /** The outcome, which may rest on what is on its way to the disk; or a promise of one that does not. */
  #decide(command: Command, options: ApplyOptions | undefined): Outcome | Promise<Outcome> {
    const problem = problemWith(command, this.#table)
    if (problem !== undefined) return Promise.reject(toInvalidArgument(command, problem))
    const refused = this.#stopped() ?? this.#fullDisk?.error
    if (refused !== undefined) return Promise.reject(refused)
    if (options?.signal?.aborted) return Promise.reject(toAborted(command, options.signal))
    try {
      const outcome = this.#run(command, this.#nowMs())
      if (outcome instanceof Promise) {
        this.#alarm.set()
        return outcome.then((late) => this.#whenDurable(late))
      }
      const isHeld = outcome.kind === 'queued' && isHeldOpen(command)
      const answer = isHeld ? this.#waits.hold(command, options?.signal, outcome) : outcome
      this.#alarm.set()
      return answer
    } catch (error) {
      const defect = toDefect(command, error)
      if (this.#table.isTorn) this.#fail(defect)
      return Promise.reject(defect)
    }
  }

  /** Brings a command to the keys it is about: one, those of a session, those of a node. */
  #run(command: Command, nowMs: number): Outcome | Promise<Outcome> {
    const table = this.#table
    const expired = this.#expire(command, nowMs)
    switch (command.kind) {
      case 'acquire':
      case 'release':
      case 'renew':
        return table.decide(table.lock(command.key), command, nowMs)
      case 'begin':
      case 'finish':
        return table.decide(table.resource(command.resource), command, nowMs)
      case 'cancel':
      case 'force': {
        const isOperation = command.namespace === 'operation'
        const state = isOperation ? table.resource(command.key) : table.lock(command.key)
        return table.decide(state, command, nowMs)
      }
      case 'unref':
        return this.#unref(command, nowMs)
      case 'open-session':
      case 'touch-session':
      case 'close-session':
        return this.#session(command, nowMs)
      case 'sweep':
        return { kind: 'swept', count: expired }
      default:
        return unreachable(command)
    }
  }

  /** So that the answer knows of nothing that has expired. Returns how many holds and waiters ended. */
  #expire(asked: Command | Query, nowMs: number): number {
    const expiry = this.#expiry
    const count = expiry.isBehind ? 0 : expiry.run(nowMs)
    return expiry.isBehind ? count + expiry.runOn(findState(this.#table, asked), nowMs) : count
  }

  #unref(command: Unref, nowMs: number): Outcome {
    const table = this.#table
    if (command.resource !== undefined) {
      return table.decide(table.resource(command.resource), command, nowMs)
    }
    let removed = 0
    for (const state of table.nodes.of(command.node)) {
      const outcome = table.decide(state, command, nowMs)
      if (outcome.kind === 'unreferenced') removed += outcome.removed
    }
    return { kind: 'unreferenced', removed, count: 0 }
  }

  #session(command: SessionCommand, nowMs: number): Outcome | Promise<Outcome> {
    const before = this.#table.sessions.get(command.session)
    if (before?.hasEnded === true) this.#expiry.finish(before, nowMs)
    const known = this.#table.sessions.get(command.session)
    const { session, outcome } = decideSession(known, command, nowMs)
    if (session === null) {
      return this.#expiry.end(known as SessionRecord, nowMs)
    }
    if (session === undefined) return outcome
    this.#table.setSession(session)
    // A heartbeat is not written: after a restart every session has its full grace.
    if (command.kind === 'open-session') this.#append(this.#store?.recordOfSession(session))
    return outcome
  }

  /** Hand a record to the journal; until it is durable, no answer goes out that may rest on it. */
  #append(record: Uint8Array | undefined): void {
    const batch = record && this.#journal?.append(record)
    if (batch === undefined || batch === this.#batch) return
    const untold: Untold[] = []
    const durable = batch.then(
      () => {
        if (this.#durable === durable) this.#durable = undefined
        for (const { events, atMs } of untold) this.#watchers.tell(events, atMs)
      },
      (error: unknown) => {
        if (this.#fullDisk?.error !== undefined) this.#kept.push(...untold)
        else this.#fail(this.#journal?.failure ?? toDefect({ kind: 'append' }, error))
        throw error
      },
    )
    durable.catch(() => {})
    this.#batch = batch
    this.#durable = durable
    this.#untold = untold
  }

  /** What is decided for a request while its call is held open. */
  #step(request: WaitingCommand, step: WaitStep): Outcome | Promise<Outcome> {
    const refused = this.#fullDisk?.error
    if (refused !== undefined) return Promise.reject(refused)
    const table = this.#table
    const state =
      request.kind === 'acquire' ? table.lock(request.key) : table.resource(request.resource)
    try {
      const outcome = table.decide(state, step, this.#nowMs())
      this.#alarm.set()
      return this.#whenDurable(outcome)
    } catch (error) {
      // The request would go on waiting, and its grant would reach no caller.
      const defect = toDefect(step, error)
      this.#fail(defect)
      return Promise.reject(defect)
    }
  }

  #settle(waiter: WaiterRecord, answer: Outcome): void {
    if (this.#waits.size === 0 || !isToldOf(answer, waiter)) return
    const { state, owner, requestId } = waiter
    const { namespace: space, key: name } = state
    const place = nameOfPlace({ space, name }, { owner, requestId })
    this.#waits.settle(place, answer, this.#durable)
  }

  read<Q extends Query>(query: Q): Promise<ReplyOf<Q>> {
    const problem = problemWithQuery(query)
    if (problem !== undefined) return Promise.reject(toInvalidArgument(query, problem))
    const stopped = this.#stopped()
    if (stopped !== undefined) return Promise.reject(stopped)
    const nowMs = this.#nowMs()
    const durable = this.#fullDisk?.table
    if (durable !== undefined) {
      return durable.then((table) => this.#reply(query, { table, nowMs }) as ReplyOf<Q>)
    }
    this.#expire(query, nowMs)
    const reply = this.#reply(query, { table: this.#table, nowMs })
    return Promise.resolve(this.#whenDurable(reply as ReplyOf<Q>))
  }

  #reply(query: Query, { table, nowMs }: { table: LockTable; nowMs: number }): ReplyOf<Query> {
    if (query.kind === 'history') return this.#history?.read(query) ?? NO_HISTORY
    const reply = readTable(table, query, nowMs)
    if (query.kind !== 'stats' || this.#journal === undefined) return reply
    return { ...(reply as StatsReply), journal: this.#journal.stats }
  }

  async watch(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    const stopped = this.#stopped()
    if (stopped !== undefined) throw stopped
    return this.#watchers.add(filter, listener)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#alarm.stop()
    this.#fullDisk?.stop()
    this.#expiry.stop(toClosed())
    this.#waits.rejectAll(toClosed())
    await this.#journal?.close()
    await this.#history?.close()
    this.#watchers.clear()
    await this.#onClosed?.()
  }

  #watchDisk({ journal, clock, readDurable }: TableStorage): FullDisk {
    return new FullDisk({
      ...{ journal, clock, readDurable },
      onFull: (error) => this.#onFull(error),
      onRoom: () => this.#onRoom(),
      onFailed: (error) => this.#fail(error),
    })
  }

  /** No answer waits for the disk any more: who changed something last is told by the journal. */
  #onFull(error: LockError): void {
    this.#alarm.stop()
    this.#durable = undefined
    this.#abandoned = this.#waits.all().map(({ command }) => command)
    this.#waits.rejectAll(error)
  }

  #onRoom(): void {
    for (const { events, atMs } of this.#kept.splice(0)) this.#watchers.tell(events, atMs)
    for (const command of this.#abandoned.splice(0)) {
      void this.#step(command, toCancel(command, 'abandoned'))
    }
    this.#alarm.restart()
  }

  /** Whole milliseconds: leases are kept to one, and small integers are cheap to keep by the million. */
  #nowMs(): number {
    return Math.floor(this.#clock.nowMs())
  }

  /** An answer, at once if nothing that it may rest on is on its way to the disk. */
  #whenDurable<T>(answer: T): T | Promise<T> {
    return this.#durable?.then(() => answer) ?? answer
  }

  /** Watchers, too, hear of nothing that a crash could still take back. */
  #tell(events: readonly LawEvent[], atMs: number): void {
    if (this.#durable === undefined) this.#watchers.tell(events, atMs)
    else this.#untold.push({ events, atMs })
  }

  #stopped(): LockError | undefined {
    return this.#closing === undefined ? this.#failure : toClosed()
  }

  #onAlarm(): void {
    if (this.#stopped() !== undefined) return
    try {
      this.#expiry.run(this.#nowMs())
    } catch (error) {
      // Nobody asked, so nobody can be told but those who wait and those who ask next.
      this.#fail(toDefect({ kind: 'expire' }, error))
    }
  }

  /** What is in memory may be ahead of the disk, or torn: nothing is answered from it any more. */
  #fail(error: LockError): void {
    this.#failure ??= error
    this.#alarm.stop()
    this.#expiry.stop(this.#failure)
    this.#waits.rejectAll(this.#failure)
  }
}

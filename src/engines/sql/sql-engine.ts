import { randomUUID } from 'node:crypto'
import type { Capabilities } from '../../engine/capabilities.ts'
import type {
  ApplyOptions,
  LockEngine,
  WatchFilter,
  Watching,
  WatchListener,
} from '../../engine/engine.ts'
import { toAborted, toClosed, toInvalidArgument } from '../../engine/errors/engine-errors.ts'
import type { Query, ReplyOf } from '../../engine/queries.ts'
import { problemWithQuery } from '../../engine/validation/query-check.ts'
import { unreachable } from '../../law/assert.ts'
import type { Command, KeyCommand, Unref } from '../../law/model/commands.ts'
import type { Law } from '../../law/decide.ts'
import type { Outcome, OutcomeOf } from '../../law/model/outcomes.ts'
import type { LawSettings } from '../../law/model/settings.ts'
import { problemWith } from '../../engine/validation/validate.ts'
import { isToldOf, OpenWaits, type WaitStep } from '../../engine/waits/open-waits.ts'
import { isHeldOpen, nameOfPlace, type WaitingCommand } from '../../engine/waits/waiting-command.ts'
import type { Clock } from '../../time/clock.ts'
import { DatabaseClock } from './commit/database-clock.ts'
import type { WorkResult } from './commit/decide-jobs.ts'
import { AnswersElsewhere, keyNameOf, toAsker } from './notify/answers-elsewhere.ts'
import { NotificationSignal } from './notify/notification-signal.ts'
import { EventFeed } from './notify/event-feed.ts'
import { Expiry } from './expiry.ts'
import { Housekeeping } from './housekeeping.ts'
import { JobQueue } from './commit/job-queue.ts'
import type { Asker } from './snapshot/key-snapshot.ts'
import type { KeyJob } from './commit/key-run.ts'
import { KeyWork } from './commit/key-work.ts'
import type { Notification } from './notify/notifications.ts'
import { NotificationInbox } from './notify/notification-inbox.ts'
import { migrate, type MigrationRegistry } from './schema/migrate.ts'
import { ServerRegistry } from './server-registry.ts'
import { SessionRegistry } from './session-registry.ts'
import type { KeyName, SqlDatabase } from './sql-dialect.ts'
import { toRefused, toUnavailable } from './sql-errors.ts'
import { readSql } from './sql-reads.ts'
import type { TransactionContext } from './commit/transaction-context.ts'
import { Transactor } from './commit/transactor.ts'
import { WatchNotice } from './notify/watch-notice.ts'

export interface SqlEngineParts {
  readonly database: SqlDatabase
  readonly law: Law
  readonly settings: LawSettings
  readonly capabilities: Capabilities
  /** For what is done now and then, and for waits; it decides nothing. */
  readonly clock: Clock
  /** In place of the clock of the database, for tests. */
  readonly nowMs?: (() => number) | undefined
  /** This process is a server, and this is what the others on the database know it by. */
  readonly announceAs?: string | undefined
}

/**
 * Locks in a database. Each command is a transaction: it locks the row of its key, shows the law what is
 * there, writes what the law changes, and commits; the answer goes out after that. Commands that come
 * together go into one transaction. A process that knows the key may decide first and have the lock and the
 * look done with the writing.
 *
 * The database is the truth: nothing is kept here that could be lost with this process, except the calls
 * that it holds open.
 */
export class SqlEngine implements LockEngine {
  readonly capabilities: Capabilities
  readonly #database: SqlDatabase
  readonly #transactor: Transactor
  readonly #work: KeyWork
  readonly #jobs: JobQueue
  readonly #waits: OpenWaits
  readonly #elsewhere: AnswersElsewhere
  readonly #inbox: NotificationInbox
  readonly #sessions: SessionRegistry
  readonly #expiry: Expiry
  readonly #feed: EventFeed
  readonly #doorbell: NotificationSignal
  readonly #housekeeping: Housekeeping
  readonly #servers: ServerRegistry | undefined
  readonly #process: string = randomUUID()
  #closing: Promise<void> | undefined

  private constructor(parts: SqlEngineParts) {
    const { database, law, settings, clock } = parts
    const process = this.#process
    this.capabilities = parts.capabilities
    this.#database = database
    this.#transactor = new Transactor(database)
    const databaseClock = new DatabaseClock(database.dialect, parts.nowMs)
    const decide = (name: KeyName, command: KeyCommand, asker?: Asker): Promise<Outcome> =>
      this.#jobs.add({ name, command, asker })
    this.#work = new KeyWork({
      law,
      settings,
      dialect: database.dialect,
      process,
      clock: databaseClock,
    })
    this.#jobs = new JobQueue({
      work: this.#work,
      transactor: this.#transactor,
      transactions: database.dialect.transactions,
      onCommitted: (result) => this.#onCommitted(result),
    })
    this.#waits = new OpenWaits({
      clock,
      decide: (request, step) => this.#step(request, step),
      onCount: () => this.#onInterest(),
    })
    this.#elsewhere = new AnswersElsewhere({ process, waits: this.#waits, decide })
    const transactor = this.#transactor
    const receive = (notification: Notification): Promise<void> =>
      this.#elsewhere.receive(notification)
    this.#inbox = new NotificationInbox({ transactor, process, receive })
    const shared = { database, transactor, clock: databaseClock, decide }
    this.#sessions = new SessionRegistry(shared)
    this.#expiry = new Expiry({
      dialect: database.dialect,
      transactor,
      databaseClock,
      clock,
      sessions: this.#sessions,
      decide,
    })
    const { dialect } = database
    const notice = new WatchNotice({ dialect, transactor, clock: databaseClock })
    const onInterest = (): void => this.#onInterest()
    this.#feed = new EventFeed({ transactor, notice, timers: clock, onInterest })
    this.#doorbell = new NotificationSignal({
      pollMs: database.dialect.pollMs,
      look: () => this.#look(),
    })
    const { announceAs: name } = parts
    if (name !== undefined) {
      const book = { transactor, clock: databaseClock, process, name, settings }
      this.#servers = new ServerRegistry(book)
    }
    this.#housekeeping = new Housekeeping({
      transactor,
      databaseClock,
      clock,
      process,
      waits: this.#waits,
      elsewhere: this.#elsewhere,
      openLetters: () => this.#doorbell.lookNow(),
      servers: this.#servers,
      openPatienceMs: settings.openPatienceMs,
    })
  }

  /** The tables are there already. */
  static async open(parts: SqlEngineParts): Promise<SqlEngine> {
    const engine = new SqlEngine(parts)
    await engine.#database.listen(engine.#process, () => engine.#doorbell.ring())
    await engine.#servers?.sign()
    engine.#expiry.start()
    engine.#housekeeping.start()
    return engine
  }

  async apply<C extends Command>(command: C, options?: ApplyOptions): Promise<OutcomeOf<C>>
  async apply(command: Command, options?: ApplyOptions): Promise<Outcome> {
    const problem = problemWith(command)
    if (problem !== undefined) throw toInvalidArgument(command, problem)
    this.#mustBeOpen()
    if (options?.signal?.aborted) throw toAborted(command, options.signal)
    if (!isHeldOpen(command)) return this.#run(command)
    return this.#waits.hold(command, options?.signal, this.#step(command, command))
  }

  /** What is decided for a request while its call is held open here. */
  #step(request: WaitingCommand, step: WaitStep): Promise<Outcome> {
    const isAsked = step.kind === 'acquire' || step.kind === 'begin'
    const process = step.kind === 'hang-up' ? undefined : this.#process
    const asker = isAsked || step.kind === 'hang-up' ? toAsker(request, process) : undefined
    return this.#jobs.add({ name: keyNameOf(request), command: step, asker })
  }

  /**
   * Apply a command on one key, and do something of one's own in the same transaction. It is not held
   * open. What `also` does may be done again if the transaction has to be.
   */
  async applyWith(command: KeyCommand & Command, also: KeyJob['also']): Promise<Outcome> {
    const problem = problemWith(command)
    if (problem !== undefined) throw toInvalidArgument(command, problem)
    this.#mustBeOpen()
    return this.#jobs.add({ name: nameOf(command), command, also })
  }

  /** Make tables of one's own beside those of the locks. */
  async migrateBeside(book: MigrationRegistry): Promise<void> {
    this.#mustBeOpen()
    try {
      await migrate(this.#database, book)
    } catch (error) {
      throw this.#database.dialect.classify(error) === 'other'
        ? toRefused(error, 'no')
        : toUnavailable(error, 'no')
    }
  }

  /** A transaction on tables of one's own. It may have to be done again. */
  async writeBeside<T>(work: (context: TransactionContext) => Promise<T>): Promise<T> {
    this.#mustBeOpen()
    return this.#transactor.write(async (db) =>
      work(await this.#work.context(db, { isReading: false })),
    )
  }

  /** The same, of a single moment, and changes nothing. */
  async readBeside<T>(work: (context: TransactionContext) => Promise<T>): Promise<T> {
    this.#mustBeOpen()
    return this.#transactor.read(async (db) =>
      work(await this.#work.context(db, { isReading: true })),
    )
  }

  async #run(command: Command): Promise<Outcome> {
    switch (command.kind) {
      case 'open-session':
      case 'touch-session':
      case 'close-session':
        return this.#sessions.apply(command)
      case 'sweep':
        return { kind: 'swept', count: await this.#expiry.sweep() }
      case 'unref':
        return command.resource === undefined ? this.#unrefAll(command) : this.#decide(command)
      default:
        return this.#decide(command)
    }
  }

  #decide(command: KeyCommand & Command): Promise<Outcome> {
    return this.#jobs.add({ name: nameOf(command), command })
  }

  async #unrefAll({ node }: Unref): Promise<Outcome> {
    const rows = await this.#transactor.read((db) =>
      db
        .selectFrom('holdfast_refs')
        .innerJoin('holdfast_keys', 'holdfast_keys.id', 'holdfast_refs.key_id')
        .select('holdfast_keys.name')
        .where('holdfast_refs.node', '=', node)
        .execute(),
    )
    const outcomes = await Promise.all(
      rows.map(({ name: resource }) => this.#decide({ kind: 'unref', node, resource })),
    )
    const removed = outcomes.reduce(
      (sum, one) => sum + (one.kind === 'unreferenced' ? one.removed : 0),
      0,
    )
    return { kind: 'unreferenced', removed, count: 0 }
  }

  async read<Q extends Query>(query: Q): Promise<ReplyOf<Q>> {
    const problem = problemWithQuery(query)
    if (problem !== undefined) throw toInvalidArgument(query, problem)
    this.#mustBeOpen()
    await this.#expiry.sweep()
    return this.#transactor.read(async (db) => {
      const context = await this.#work.context(db, { isReading: true })
      const reply = (await readSql(context, query)) as ReplyOf<Q>
      if (query.kind !== 'stats' || this.#servers === undefined) return reply
      return { ...reply, differences: await this.#servers.findDifferences(context) }
    })
  }

  async watch(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    this.#mustBeOpen()
    return this.#feed.watch(filter, listener)
  }

  /** As it is in memory: whoever watches here has heard of what happened before anyone is answered. */
  #onCommitted({ settled, nowMs, dueAtMs, hasEvents }: WorkResult): Promise<void> | undefined {
    this.#expiry.note(nowMs, dueAtMs)
    const settle = (): void => {
      for (const { name, departure } of settled) {
        const { waiter, answer } = departure
        if (isToldOf(answer, waiter)) this.#waits.settle(nameOfPlace(name, waiter), answer)
      }
    }
    if (hasEvents && this.#feed.isWatched) return this.#feed.read().then(settle, settle)
    settle()
    return undefined
  }

  #onInterest(): void {
    const isWaiting = this.#waits.size > 0
    this.#doorbell.want(isWaiting || this.#feed.isWatched, isWaiting)
  }

  async #look(): Promise<void> {
    if (this.#waits.size > 0) await this.#inbox.open()
    await this.#feed.read()
  }

  #mustBeOpen(): void {
    if (this.#closing !== undefined) throw toClosed()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#waits.rejectAll(toClosed())
    await this.#expiry.close()
    await this.#housekeeping.close()
    // A server that cannot say that it leaves is taken for gone a little later.
    await this.#servers?.leave().catch(() => {})
    await this.#doorbell.close()
    await this.#jobs.settle()
    this.#feed.close()
    await this.#database.close()
  }
}

function nameOf(command: KeyCommand & Command): KeyName {
  switch (command.kind) {
    case 'begin':
    case 'finish':
      return { space: 'operation', name: command.resource }
    case 'unref':
      return { space: 'operation', name: command.resource ?? '' }
    case 'cancel':
    case 'force':
      return { space: command.namespace ?? 'lock', name: command.key }
    case 'acquire':
    case 'release':
    case 'renew':
      return { space: 'lock', name: command.key }
    default:
      return unreachable(command)
  }
}

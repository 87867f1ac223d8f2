import { randomUUID } from 'node:crypto'
import type { Capabilities } from '../../engine/capabilities.ts'
import type {
  ApplyOptions,
  LockEngine,
  WatchFilter,
  Watching,
  WatchListener,
} from '../../engine/engine.ts'
import { toAborted, toClosed, toInvalidArgument } from '../../engine/engine-errors.ts'
import type { Query, ReplyOf } from '../../engine/queries.ts'
import { problemWithQuery } from '../../engine/query-check.ts'
import { unreachable } from '../../law/assert.ts'
import type { Command, KeyCommand, Unref } from '../../law/commands.ts'
import type { Law } from '../../law/decide.ts'
import type { Outcome, OutcomeOf } from '../../law/outcomes.ts'
import type { LawSettings } from '../../law/settings.ts'
import { problemWith } from '../../law/validate.ts'
import { isHeldOpen } from '../../law/waiting.ts'
import type { Clock } from '../../time/clock.ts'
import { DatabaseClock } from './database-clock.ts'
import { Doorbell } from './doorbell.ts'
import { EventFeed } from './event-feed.ts'
import { Expiry } from './expiry.ts'
import { Housekeeping } from './housekeeping.ts'
import { JobQueue } from './job-queue.ts'
import type { Asker } from './key-snapshot.ts'
import { KeyWork, type KeyJob, type WorkResult } from './key-work.ts'
import { readLetters, removeLetters } from './letters.ts'
import { migrate, type MigrationBook } from './migrate.ts'
import { OpenWaits } from './open-waits.ts'
import { SessionBook } from './session-book.ts'
import type { KeyName, SqlDatabase } from './sql-dialect.ts'
import { toRefused, toUnavailable } from './sql-errors.ts'
import { readSql } from './sql-reads.ts'
import type { TransactionContext } from './transaction-context.ts'
import { Transactor } from './transactor.ts'

export interface SqlEngineParts {
  readonly database: SqlDatabase
  readonly law: Law
  readonly settings: LawSettings
  readonly capabilities: Capabilities
  /** For what is done now and then, and for waits; it decides nothing. */
  readonly clock: Clock
  /** In place of the clock of the database, for tests. */
  readonly nowMs?: (() => number) | undefined
}

/**
 * Locks in a database. Each command is a transaction: it locks the row of its key, shows the law what is
 * there, writes what the law changes, and commits; the answer goes out after that. Commands that come
 * together go into one transaction.
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
  readonly #sessions: SessionBook
  readonly #expiry: Expiry
  readonly #feed: EventFeed
  readonly #doorbell: Doorbell
  readonly #housekeeping: Housekeeping
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
      isOpenHere: (name, departure) => this.#waits.isOpen(name, departure),
    })
    this.#jobs = new JobQueue({
      work: this.#work,
      transactor: this.#transactor,
      transactions: database.dialect.transactions,
      onCommitted: (result) => this.#onCommitted(result),
    })
    this.#waits = new OpenWaits({
      process,
      clock,
      decide,
      findPlace: (name, owner) => this.#findPlace(name, owner),
      onCount: () => this.#onInterest(),
    })
    const transactor = this.#transactor
    const shared = { database, transactor, clock: databaseClock, decide }
    this.#sessions = new SessionBook(shared)
    this.#expiry = new Expiry({
      transactor,
      databaseClock,
      clock,
      sessions: this.#sessions,
      decide,
    })
    this.#feed = new EventFeed({ ...shared, timers: clock, onInterest: () => this.#onInterest() })
    this.#doorbell = new Doorbell({
      pollMs: database.dialect.pollMs,
      look: () => this.#look(),
    })
    this.#housekeeping = new Housekeeping({
      transactor,
      databaseClock,
      clock,
      process,
      waits: this.#waits,
      openLetters: () => this.#doorbell.lookNow(),
      openPatienceMs: settings.openPatienceMs,
    })
  }

  /** The tables are there already. */
  static async open(parts: SqlEngineParts): Promise<SqlEngine> {
    const engine = new SqlEngine(parts)
    await engine.#database.listen(engine.#process, () => engine.#doorbell.ring())
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
    if (isHeldOpen(command)) return this.#waits.ask(command, options?.signal)
    return this.#run(command)
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
  async migrateBeside(book: MigrationBook): Promise<void> {
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
      return (await readSql(await this.#work.context(db, { isReading: true }), query)) as ReplyOf<Q>
    })
  }

  async #findPlace(
    { space, name }: KeyName,
    owner: string,
  ): Promise<{ readonly requestId: string; readonly position: number } | undefined> {
    const standing = await this.read({ kind: 'standing', key: name, namespace: space, owner })
    return standing.waiting[0]
  }

  async watch(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    this.#mustBeOpen()
    const watching = await this.#feed.watch(filter, listener)
    await this.#jobs.settle()
    return watching
  }

  #onCommitted({ settled, nowMs, dueAtMs, hasEvents }: WorkResult): void {
    for (const { name, departure } of settled) this.#waits.settle(name, departure)
    this.#expiry.note(nowMs, dueAtMs)
    if (hasEvents && this.#feed.isWatched) this.#doorbell.ring()
  }

  #onInterest(): void {
    const isWaiting = this.#waits.size > 0
    this.#doorbell.want(isWaiting || this.#feed.isWatched, isWaiting)
  }

  async #look(): Promise<void> {
    if (this.#waits.size > 0) await this.#openLetters()
    await this.#feed.read()
  }

  async #openLetters(): Promise<void> {
    const transactor = this.#transactor
    const { ids, letters } = await transactor.run((db) => readLetters(db, this.#process))
    await Promise.all(letters.map((letter) => this.#waits.receive(letter)))
    await transactor.run((db) => removeLetters(db, ids))
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
    this.#waits.rejectAll()
    await this.#expiry.close()
    await this.#housekeeping.close()
    await this.#doorbell.close()
    await this.#jobs.settle()
    this.#feed.close()
    await this.#database.close()
  }
}

function nameOf(command: Exclude<KeyCommand & Command, never>): KeyName {
  switch (command.kind) {
    case 'begin':
    case 'finish':
    case 'withdraw':
      return { space: 'operation', name: command.resource }
    case 'unref':
      return { space: 'operation', name: command.resource ?? '' }
    case 'force':
      return { space: command.namespace ?? 'lock', name: command.key }
    case 'acquire':
    case 'release':
    case 'renew':
    case 'cancel':
      return { space: 'lock', name: command.key }
    default:
      return unreachable(command)
  }
}

import type { Kysely } from 'kysely'
import type { SqlSchema } from './schema/schema.ts'
import type { Rows, Statement, Value } from './statement.ts'

/** Statements go through this one, inside a transaction or outside. */
export type Connection = Kysely<SqlSchema>

/** What the columns of a table are made of. */
export interface ColumnTypes {
  /** A name that is compared byte by byte, up to this many bytes. */
  name(bytesMax: number): string
  /** A short ASCII word. */
  readonly word: string
  /** Text without a bound of its own; never compared. */
  readonly text: string
  /** A whole number up to 2^53. */
  readonly integer: string
  /** A whole column: a primary key that numbers itself and never uses a number twice. */
  readonly serial: string
  /** What follows the closing bracket of a table. */
  readonly tableOptions: string
}

/** What the statement of a view is made of. It is read in sessions of others, whatever their settings. */
export interface ViewTerms {
  /** Makes a view, up to its name. */
  readonly create: string
  /** Milliseconds since the epoch on the clock of the database. */
  readonly nowMs: string
  /** A column of milliseconds as the instants of the database; in UTC where those have no zone. */
  instant(column: string): string
  /** A column that is a name as text that a person can read. */
  text(column: string): string
}

/** How transactions that decide hear that somebody watches, and how watchers know that all of them have. */
export interface WatchTerms {
  /** The row of `holdfast_state` that says until when somebody watches. */
  readonly row: number
  /**
   * Reads it in a transaction that decides, which has locked its keys before; `null` while somebody is
   * about to write it.
   */
  readonly untilMs: string
  /**
   * Selects the `name` of every transaction that decides. Absent where whoever writes the row waits for
   * those that have read it.
   */
  readonly underWay?: string
}

/** How a transaction ends itself that was sent whole, because what it was decided on was not looked at first. */
export interface OptimisticTerms {
  /** A column that cannot be computed unless the condition holds. */
  failUnless(condition: Statement): Statement
  /** Whether a statement failed for that, and not for anything else. */
  isRefuted(error: unknown): boolean
}

/** What an error of a driver means. */
export type SqlFailure =
  /** Two transactions stood in each other's way, or the database was busy: nothing happened. */
  | 'conflict'
  /**
   * The server only reads, as one does whose place another has taken: nothing happened. Its connection is
   * given up, because a new one may lead to the other.
   */
  | 'standby'
  /** The connection is gone, or could not be made. */
  | 'connection'
  /** The database refused: no space, no right, no such table. */
  | 'other'

export type TableName = keyof SqlSchema

export type Row = Readonly<Record<string, Value>>

export interface KeyName {
  readonly space: 'lock' | 'operation'
  readonly name: string
}

/** What differs between databases. Everything else is one engine. */
export interface SqlDialect {
  readonly name: 'sqlite' | 'postgres' | 'mysql'
  readonly types: ColumnTypes
  readonly views: ViewTerms
  /** How many transactions of one process are open at the same time, at most. */
  readonly transactions: number
  /** The statements that begin a transaction that writes. */
  readonly begin: readonly string[]
  /** Those that begin one that reads a single moment. */
  readonly beginReading: readonly string[]
  /** Milliseconds since the epoch on the clock of the database, now and not when the transaction began. */
  readonly nowMs: string
  /** At the end of a select that locks the rows it finds; empty where a transaction has them all. */
  readonly forUpdate: string
  readonly forShare: string
  /** The same as `forUpdate`, without those that somebody else has. */
  readonly skipLocked: string
  readonly watch: WatchTerms
  /** Absent where nothing is gained by it, because to look first costs no round trip. */
  readonly guess?: OptimisticTerms
  /**
   * The longest time from a commit to when another process looks for it, without load. 0 where the
   * database tells it; otherwise processes that wait look this often.
   */
  readonly pollMs: number

  /**
   * Execute statements one after the other, at least one, in a single round trip where there are any.
   * Whatever follows one that fails is not done. Returns what each of them found.
   */
  run(db: Connection, statements: readonly Statement[]): Promise<Rows[]>

  /** Inserts rows, at least one; those that are there get all other columns of these. `by` is the primary key. */
  upsert(table: TableName, put: Upsert): Statement

  /** Changes rows that are all there, at least one. `texts` are those of the columns that are not numbers. */
  change(table: TableName, put: Upsert, texts: ReadonlySet<string>): Statement

  /** Makes the rows of keys that have none. The last statement finds them and those that were there, locked. */
  insertKeys(names: readonly KeyName[]): readonly Statement[]

  /** Follows the name of a table whose rows are found by a list of values, and locked. Empty where only those are. */
  useIndex(name: string): string

  /** Deletes the rows in which a column has one of these numbers, at least one, and locks no others. */
  removeAll(from: TableName, column: string, ids: readonly number[]): Statement

  /** Run while no other process does: for migrations. */
  exclusively(db: Kysely<SqlSchema>, work: (db: Connection) => Promise<void>): Promise<void>

  /** In a transaction: when it commits, these processes are told at once, as far as that is possible. */
  ring(processes: readonly string[]): readonly Statement[]

  classify(error: unknown): SqlFailure

  /**
   * Only where a change to the schema commits by itself, so that a migration that was killed is half
   * done: whether this error says that the statement was done before.
   */
  isDoneBefore?(error: unknown): boolean
}

export interface Upsert {
  readonly by: readonly string[]
  /** Columns that are as they are where the row is there. */
  readonly fixed?: readonly string[]
  readonly rows: readonly Row[]
}

/** A database that is open. */
export interface SqlDatabase {
  readonly dialect: SqlDialect
  readonly db: Kysely<SqlSchema>
  /** Settings of the server that take something away from what is promised, in words for an operator. */
  readonly warnings?: readonly string[]
  /**
   * Be told when this process is rung for, and whenever that may have been missed. Resolves when it is
   * sure that every later ring is heard. Does nothing where the database cannot tell.
   */
  listen(process: string, onRing: () => void): Promise<void>
  close(): Promise<void>
}

/** Everybody who watches. */
export const ALL_PROCESSES = '*'

import type { LawSettings } from '../../../law/model/settings.ts'
import type { SnapshotContext } from '../snapshot/key-snapshot.ts'
import type { Connection, SqlDialect } from '../sql-dialect.ts'

/** What holds for one transaction: its connection, its moment, and what was looked up in it. */
export interface TransactionContext extends SnapshotContext {
  readonly db: Connection
  readonly dialect: SqlDialect
  readonly settings: LawSettings
  /** Of this engine. */
  readonly process: string
  /** It changes nothing, and so it locks nothing. */
  readonly isReading: boolean
  /** Whether any process watches. Events are written only then. */
  readonly isWatched: boolean
  /** On the clock of the database, read when the keys were locked. */
  readonly nowMs: number
}

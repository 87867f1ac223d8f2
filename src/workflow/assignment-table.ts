import { sql } from 'kysely'
import type { SqlDialect } from '../engines/sql/sql-dialect.ts'
import type { TransactionContext } from '../engines/sql/commit/transaction-context.ts'

/** What of an assignment says which it is. */
export interface AssignmentRow {
  readonly id: string
  readonly lockKey: string
  readonly owner: string
  readonly token: number
}

export interface NewAssignment extends AssignmentRow {
  readonly lockType: string
  readonly leaseMs: number
}

/** The assignments of one transaction: what is written here stands and falls with the lock. */
export class AssignmentTable {
  readonly #context: TransactionContext

  constructor(context: TransactionContext) {
    this.#context = context
  }

  async insert({ id, lockKey, owner, token, lockType, leaseMs }: NewAssignment): Promise<void> {
    const { db, nowMs } = this.#context
    await sql`
      insert into workflow_assignments
        (id, lock_key, owner, lock_type, token, assigned_at, expires_at, renewals)
      values (${id}, ${lockKey}, ${owner}, ${lockType}, ${token},
        ${this.#instant(nowMs)}, ${this.#instant(nowMs + leaseMs)}, 0)`.execute(db)
  }

  /** Those of a key that have no end yet. */
  async findOpen(lockKey: string): Promise<AssignmentRow[]> {
    const { rows } = await sql<StoredAssignment>`
      select id, lock_key, owner, token from workflow_assignments
      where ${this.#is('lock_key', lockKey)} and ended_at is null`.execute(this.#context.db)
    return rows.map(toRow)
  }

  /** Those that have no end yet although their leases have, in the order of their ids. */
  async findOverdue(afterId: string, limit: number): Promise<AssignmentRow[]> {
    const { db, nowMs } = this.#context
    const { rows } = await sql<StoredAssignment>`
      select id, lock_key, owner, token from workflow_assignments
      where ended_at is null and expires_at <= ${this.#instant(nowMs)} and id > ${afterId}
      order by id limit ${sql.lit(limit)}`.execute(db)
    return rows.map(toRow)
  }

  async renew(lockKey: string, token: number, leaseMs: number): Promise<void> {
    const { db, nowMs } = this.#context
    await sql`
      update workflow_assignments
      set expires_at = ${this.#instant(nowMs + leaseMs)}, renewals = renewals + 1
      where ${this.#is('lock_key', lockKey)} and ended_at is null and token = ${token}`.execute(db)
  }

  async release(lockKey: string, owner: string): Promise<void> {
    const { db, nowMs } = this.#context
    await sql`
      update workflow_assignments
      set ended_at = ${this.#instant(nowMs)}, ended_as = 'released'
      where ${this.#is('lock_key', lockKey)} and ${this.#is('owner', owner)}
        and ended_at is null`.execute(db)
  }

  /** The hold is gone: note how and when it went. Returns how many rows that changed, 0 or 1. */
  async close({ id, lockKey, token }: AssignmentRow): Promise<number> {
    const { db, nowMs } = this.#context
    const end = await this.#findEnd(lockKey, token)
    const at = this.#instant(end?.atMs ?? nowMs)
    const hasRunOut = sql`expires_at <= ${at}`
    const kind = end?.kind ?? sql`case when ${hasRunOut} then 'expired' else 'forced' end`
    const isRunOut = end === undefined || end.kind === 'expired'
    const endedAt = isRunOut ? sql`case when ${hasRunOut} then expires_at else ${at} end` : at
    const { numAffectedRows = 0n } = await sql`
      update workflow_assignments set ended_as = ${kind}, ended_at = ${endedAt}
      where id = ${id} and ended_at is null`.execute(db)
    return Number(numAffectedRows)
  }

  /**
   * What the engine remembers of it. Nothing if it ended in this very transaction, and then it ran out, or
   * an operator ended it.
   */
  async #findEnd(
    lockKey: string,
    token: number,
  ): Promise<{ readonly kind: string; readonly atMs: number } | undefined> {
    const row = await this.#context.db
      .selectFrom('holdfast_history')
      .select(['end_kind', 'to_ms'])
      .where('name', '=', lockKey)
      .where('space', '=', 'lock')
      .where('token', '=', token)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst()
    return row && { kind: row.end_kind, atMs: row.to_ms }
  }

  #instant(atMs: number): string {
    return toInstant(this.#context.dialect.name, atMs)
  }

  /** Equal to the last byte: text of MySQL is also equal to the same with spaces at its end. */
  #is(column: 'lock_key' | 'owner', value: string): ReturnType<typeof sql> {
    const isEqual = sql`${sql.ref(column)} = ${value}`
    if (this.#context.dialect.name !== 'mysql') return isEqual
    return sql`${isEqual} and cast(${sql.ref(column)} as binary) = cast(${value} as binary)`
  }
}

interface StoredAssignment {
  readonly id: string
  readonly lock_key: string
  readonly owner: string
  readonly token: number
}

function toRow({ id, lock_key: lockKey, owner, token }: StoredAssignment): AssignmentRow {
  return { id, lockKey, owner, token: Number(token) }
}

/** In UTC, which has to be said where instants have a zone and must not be where they have none. */
function toInstant(dialect: SqlDialect['name'], atMs: number): string {
  const text = new Date(atMs).toISOString().replace('T', ' ').replace('Z', '')
  return dialect === 'postgres' ? `${text}+00` : text
}

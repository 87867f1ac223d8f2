import { randomUUID } from 'node:crypto'
import { toClosed, toInvalidArgument } from '../engine/errors/engine-errors.ts'
import { createError, isLockError, type LockError } from '../engine/errors/errors.ts'
import type { KeyJob } from '../engines/sql/commit/key-run.ts'
import { SqlEngine } from '../engines/sql/sql-engine.ts'
import type { Acquire, Release, Renew } from '../law/model/commands.ts'
import { TYPE_CHARS_MAX } from '../engine/validation/limits.ts'
import type { Outcome } from '../law/model/outcomes.ts'
import type { Clock } from '../time/clock.ts'
import { SystemClock } from '../time/system-clock.ts'
import { AssignmentMonths } from './assignment-months.ts'
import { type AssignmentRow, AssignmentTable } from './assignment-table.ts'
import { monthOf } from './calendar-month.ts'
import { WORKFLOW_BOOK } from './workflow-migrations.ts'
import type { LockType, WorkflowLeases, WorkflowLock } from './workflow-leases.ts'

/** A lost answer is asked for again, each time after twice as long. */
const ATTEMPTS = 5
const PAUSE_MS_FIRST = 50

/** Assignments that are looked at in one go. */
const OVERDUE_MAX = 200

/** No hold has this token. */
const NO_TOKEN = 0

type Also = NonNullable<KeyJob['also']>

/** Workflow leases on an engine that keeps its locks in a database. */
export class SqlWorkflowLeases implements WorkflowLeases {
  readonly #sql: SqlEngine
  readonly #closeEngine: () => Promise<void>
  readonly #months: AssignmentMonths
  readonly #clock: Clock = new SystemClock()
  #closing: Promise<void> | undefined

  private constructor(engine: SqlEngine, closeEngine: () => Promise<void>) {
    this.#sql = engine
    this.#closeEngine = closeEngine
    this.#months = new AssignmentMonths(engine)
  }

  get #engine(): SqlEngine {
    if (this.#closing !== undefined) throw toClosed()
    return this.#sql
  }

  /** Makes the tables if they are not there. */
  static async open(engine: unknown, closeEngine: () => Promise<void>): Promise<SqlWorkflowLeases> {
    if (!(engine instanceof SqlEngine)) {
      const message = 'keeps its locks in no database; workflow leases need one that does'
      throw toInvalidArgument({ kind: 'open workflow leases' }, { field: 'engine', message })
    }
    await engine.migrateBeside(WORKFLOW_BOOK)
    const leases = new SqlWorkflowLeases(engine, closeEngine)
    await leases.#months.make()
    return leases
  }

  // oxlint-disable-next-line max-params -- what people who come from such leases call
  async acquireLock(
    lockKey: string,
    owner: string,
    lockType: LockType,
    timeoutMs: number,
  ): Promise<boolean> {
    const meta = toMeta(lockType)
    const id = randomUUID()
    const ask: Acquire = {
      kind: 'acquire',
      key: lockKey,
      owner,
      requestId: id,
      ttlMs: timeoutMs,
      meta,
    }
    let grantedAtMs = 0
    const also: Also = async (context, outcome) => {
      if (outcome.kind !== 'granted') return
      // The law lets an owner enter again. Nothing of this may stay, so the transaction has to go.
      if (outcome.reads + outcome.writes > 1) throw toReentry(ask)
      const { token, leaseMs } = outcome
      const table = new AssignmentTable(context)
      const open = await table.findOpen(lockKey)
      for (const before of open.filter((one) => one.id !== id)) await table.close(before)
      if (open.some((one) => one.id === id)) return
      await table.insert({ id, lockKey, owner, token, lockType, leaseMs })
      grantedAtMs = context.nowMs
    }
    try {
      const outcome = await this.#ask(ask, also)
      this.#months.note(grantedAtMs)
      return outcome.kind === 'granted'
    } catch (error) {
      if (isLockError(error, 'LOCK_HELD')) return false
      throw error
    }
  }

  async releaseLock(lockKey: string, owner: string): Promise<boolean> {
    const ask: Release = { kind: 'release', key: lockKey, owner, requestId: randomUUID() }
    const outcome = await this.#ask(ask, async (context, answer) => {
      if (answer.kind !== 'released' || answer.reads + answer.writes > 0) return
      await new AssignmentTable(context).release(lockKey, owner)
    })
    return outcome.kind === 'released'
  }

  async renewLock(lockKey: string, owner: string, timeoutMs: number): Promise<boolean> {
    const ask: Renew = { kind: 'renew', key: lockKey, owner, ttlMs: timeoutMs }
    const outcome = await this.#ask(ask, async (context, answer) => {
      if (answer.kind !== 'renewed') return
      const { token, leaseMs } = answer
      await new AssignmentTable(context).renew(lockKey, token, leaseMs)
    })
    return outcome.kind === 'renewed'
  }

  async cleanupExpiredLocks(): Promise<number> {
    await this.#engine.apply({ kind: 'sweep' })
    let count = 0
    for (let afterId = ''; ; ) {
      const overdue = await this.#engine.readBeside((context) =>
        new AssignmentTable(context).findOverdue(afterId, OVERDUE_MAX),
      )
      const closed = await Promise.all(overdue.map((one) => this.#closeOverdue(one)))
      count += closed.reduce((sum, one) => sum + one, 0)
      if (overdue.length < OVERDUE_MAX) return count
      afterId = overdue.at(-1)?.id ?? ''
    }
  }

  /**
   * Before anything is decided on a key, what has run out on it is gone; and a release under a token that
   * no hold has changes nothing else. It says whether the owner holds the key all the same: somebody may
   * have renewed it in another way.
   */
  async #closeOverdue(assignment: AssignmentRow): Promise<number> {
    const { lockKey, owner } = assignment
    const ask: Release = { kind: 'release', key: lockKey, owner, token: NO_TOKEN }
    let closed = 0
    await this.#ask(ask, async (context, outcome) => {
      closed = 0
      if (outcome.kind === 'refused' && outcome.code === 'stale_token') return
      closed = await new AssignmentTable(context).close(assignment)
    })
    return closed
  }

  async checkLock(lockKey: string): Promise<WorkflowLock | null> {
    return this.#engine.readBeside(async ({ db, nowMs }) => {
      const row = await db
        .selectFrom('holdfast_keys as k')
        .innerJoin('holdfast_holds as h', 'h.key_id', 'k.id')
        // What is held in a session of a lock server lasts as long as the session is heard of.
        .leftJoin('holdfast_sessions as s', (join) =>
          join.onRef('s.id', '=', 'h.session').on('s.keeps_leases', '=', 1).on('s.ended', '=', 0),
        )
        .select(['h.owner', 'h.meta', 'h.lease_at_ms', 'h.since_ms', 'h.token'])
        .select(({ eb }) => eb('s.heard_at_ms', '+', eb.ref('h.ttl_ms')).as('kept_at_ms'))
        .where('k.space', '=', 'lock')
        .where('k.name', '=', lockKey)
        .where(({ eb, or }) =>
          or([
            eb('h.lease_at_ms', '>', nowMs),
            eb(eb('s.heard_at_ms', '+', eb.ref('h.ttl_ms')), '>', nowMs),
          ]),
        )
        .orderBy('h.token')
        .limit(1)
        .executeTakeFirst()
      if (row === undefined) return null
      return {
        lockKey,
        owner: row.owner,
        lockType: fromMeta(row.meta),
        expiresAt: new Date(Math.max(row.lease_at_ms, row.kept_at_ms ?? 0)),
        createdAt: new Date(row.since_ms),
        token: row.token,
      }
    })
  }

  async dropAssignmentsBefore(moment: Date): Promise<string[]> {
    if (!(moment instanceof Date) || Number.isNaN(moment.getTime())) {
      const asked = { kind: 'dropAssignmentsBefore' }
      throw toInvalidArgument(asked, { field: 'moment', message: 'must be a date' })
    }
    if (this.#closing !== undefined) throw toClosed()
    return this.#months.dropBefore(monthOf(moment.getTime()))
  }

  /** The same request under the same id until an answer comes. Throws what was not answered first. */
  async #ask(command: Acquire | Release | Renew, also: Also): Promise<Outcome> {
    let unclear: LockError | undefined
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#engine.applyWith(command, also)
      } catch (error) {
        const isUnclear = isLockError(error) && error.retryable && error.applied === 'maybe'
        if (isUnclear) unclear ??= error
        const isPassing = isLockError(error) && error.retryable && error.code !== 'LOCK_HELD'
        if (unclear === undefined || !isPassing) throw error
        if (attempt === ATTEMPTS) throw unclear
        await this.#pause(PAUSE_MS_FIRST * 2 ** (attempt - 1))
      }
    }
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.setTimer(delayMs, resolve).ref()
    })
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    await this.#months.settle()
    await this.#closeEngine()
  }
}

const LOCK_TYPE = new RegExp(`^[A-Za-z0-9._-]{1,${TYPE_CHARS_MAX}}$`)

/** The view of the locks takes the type out of this very text. */
function toMeta(lockType: LockType): string {
  if (typeof lockType !== 'string' || !LOCK_TYPE.test(lockType)) {
    const message = `must be 1 to ${TYPE_CHARS_MAX} letters, digits, '.', '_' or '-'`
    throw toInvalidArgument({ kind: 'acquireLock' }, { field: 'lockType', message })
  }
  return `{"type":"${lockType}"}`
}

function fromMeta(meta: string | null): LockType | null {
  return /^\{"type":"([^"]*)"\}$/.exec(meta ?? '')?.[1] ?? null
}

function toReentry({ key, owner }: Acquire): Error {
  return createError('LOCK_HELD', `acquire: ${owner} holds ${key} already`)
}

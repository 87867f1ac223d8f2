/**
 * What a lock is about, for those who look: `workflow`, `node`, `resource`, or a word of one's own of
 * letters, digits, `.`, `_` and `-`, at most 64 of them.
 */
export type LockType = 'workflow' | 'node' | 'resource' | (string & {})

/** A lock that is held. */
export interface WorkflowLock {
  readonly lockKey: string
  readonly owner: string
  /** `null` for a lock that was taken in another way than through `acquireLock`. */
  readonly lockType: LockType | null
  /** On the clock of the database, as all instants here. */
  readonly expiresAt: Date
  /** When its owner got it. */
  readonly createdAt: Date
  /** The fencing token: it only grows from one owner of the key to the next. */
  readonly token: number
}

/**
 * Leases on the keys of a workflow engine, in the database that it has anyway. Nothing here waits: a lock
 * that is held gives `false`. They are locks like any others: whoever uses the same database through
 * `connect` sees and respects them.
 *
 * Whether a lease has run out is decided by the clock of the database alone. What a method could not find
 * out, because the database is away, is a `LockError`; a lost answer is asked for again first.
 */
export interface WorkflowLeases extends AsyncDisposable {
  /**
   * Take a lock for `timeoutMs` (100 ms to 24 hours). `false` if anybody holds it, the same owner
   * included: there is no re-entry, and asking does not renew. One whose lease has run out is taken over.
   * Of several who ask first at the same time, one gets `true`.
   *
   * Throws if the answer was lost for good; `checkLock` then says who has it.
   */
  acquireLock(
    lockKey: string,
    owner: string,
    lockType: LockType,
    timeoutMs: number,
  ): Promise<boolean>

  /** Give a lock back. `false`, and nothing changes, unless this owner holds it. */
  releaseLock(lockKey: string, owner: string): Promise<boolean>

  /**
   * Let a lease end `timeoutMs` from now, or when it would have if that is later. `false`, and nothing
   * changes, unless this owner holds it: a lease that has run out is not revived.
   */
  renewLock(lockKey: string, owner: string, timeoutMs: number): Promise<boolean>

  /**
   * Remove the locks whose leases have run out, and note the end of their assignments. Returns how many
   * that were, not counting those that somebody took over meanwhile. No lock depends on it: an expired
   * one is nobody's before it is removed.
   */
  cleanupExpiredLocks(): Promise<number>

  /** Who holds a lock; `null` if nobody does. Of several readers, the first. */
  checkLock(lockKey: string): Promise<WorkflowLock | null>

  /**
   * Drop the assignments that were made in months (in UTC) before the one that this moment is in; never
   * those of the present month. Returns which months had a place, such as `['2026-08', '2026-09']`.
   */
  dropAssignmentsBefore(moment: Date): Promise<string[]>

  /** Held locks stay held until they run out. An engine that was given, and not opened here, stays open. */
  close(): Promise<void>
}

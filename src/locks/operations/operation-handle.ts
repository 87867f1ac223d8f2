/**
 * An operation that this node runs: it has the resource to itself until it says how it went.
 *
 * It is renewed and can be lost as a lock can; see `LockHandle`. Leaving an `await using` scope without
 * `finish` counts as a failure, and the next node in the queue gets its turn.
 *
 * @example
 * ```ts
 * import { connect } from 'holdfast'
 *
 * const locks = await connect('memory:', { node: 'node-1' })
 * const begun = await locks.begin('pull', 'sha256:4f1c')
 * if (begun.kind === 'acquired') {
 *   await using operation = begun.operation
 *   await operation.finish({ success: true, value: { sizeBytes: 4096 } })
 * }
 * console.log(await locks.references('sha256:4f1c')) // ['node-1']
 * await locks.close()
 * ```
 */
export interface OperationHandle extends AsyncDisposable {
  readonly type: string
  readonly resource: string
  readonly node: string

  /** The fencing token of the resource; see `LockHandle.token`. */
  readonly token: number

  /** Aborts when the operation is lost, with `LOCK_LOST`; see `LockHandle.signal`. */
  readonly signal: AbortSignal

  /** Whether the resource may still be relied on to be this node's own. */
  readonly isHeld: boolean

  /** How long it may be relied on if nothing is heard from the engine any more; 0 when not held. */
  readonly remainingMs: number

  /**
   * Say how it went and give the resource free, in one step. A success is remembered, with its value
   * (at most 8 KiB as JSON), and the waiters for the same get the value instead of their turn.
   *
   * The first call decides; later ones return the same promise. A success that comes too late, because
   * the operation was lost, rejects with `LOCK_LOST`: it is not remembered, and others may run it. A
   * failure never rejects for that.
   */
  finish(result: OperationResult): Promise<void>
}

export type OperationResult =
  | { readonly success: true; readonly value?: unknown }
  | {
      readonly success: false
      /** For people, in events; at most 4 KiB. */
      readonly error?: string | undefined
    }

/** How a `begin` that waits comes back. */
export type BeginOutcome =
  /** The resource is this node's own: do the work, then `finish`. */
  | { readonly kind: 'acquired'; readonly operation: OperationHandle }
  /** The work is already done; `value` is what it left. */
  | { readonly kind: 'skipped'; readonly value: unknown }
  /** `node` did the work and the queue was dissolved (`coordination: 'client'`): look for yourself. */
  | { readonly kind: 'dissolved'; readonly node: string }

/** How a `begin` that does not wait comes back. */
export type BeginNowOutcome =
  | BeginOutcome
  /**
   * In the queue; 1 is next. Ask again now and then: the place is kept for 90 s after each time, and a
   * turn that has come waits 10 s to be taken, unless the engine was told otherwise.
   */
  | {
      readonly kind: 'queued'
      readonly position: number
      /** Leave the queue. */
      readonly withdraw: () => Promise<void>
    }

/** What `once` comes back with, on every node. */
export interface OnceOutcome<Value> {
  /** Whether it was this call that ran the function. */
  readonly ran: boolean
  /** What the function returned, as JSON carries it: the same for who ran it and who did not. */
  readonly value: Value
}

/** What the function of `once` is given. */
export interface OnceContext {
  readonly key: string
  readonly token: number
  /** Aborts when this run has lost its claim, and another may have begun. */
  readonly signal: AbortSignal
}

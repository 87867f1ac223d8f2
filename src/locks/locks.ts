import type { Capabilities } from '../engine/capabilities.ts'
import { toInvalidArgument } from '../engine/errors/engine-errors.ts'
import type { LockError } from '../engine/errors/errors.ts'
import type { HistoryEntry, InspectReply, ListReply } from '../engine/queries.ts'
import { problemWithFilter } from '../engine/validation/query-check.ts'
import { acquireAll } from './request/acquire-all.ts'
import { acquireLock, runWithLock, throwRefusal } from './request/acquire-lock.ts'
import {
  type AcquireTerms,
  parseAcquireOptions,
  parseMeta,
  parseTtl,
  parseWaitOptions,
} from './request/acquire-terms.ts'
import { assertFunction, assertOptions, assertSignal } from './options/check-options.ts'
import { HeldLock } from './lease/held-lock.ts'
import { HeldOperation } from './operations/held-operation.ts'
import type { LockHandle } from './lease/lock-handle.ts'
import type {
  AcquireOptions,
  BeginNowOptions,
  BeginOptions,
  ForceReleaseOptions,
  HistoryOptions,
  InspectOptions,
  ListOptions,
  OnceOptions,
  TryAcquireOptions,
  UnrefOptions,
  WatchOptions,
} from './options/lock-options.ts'
import type { LockSet } from './lease/lock-set.ts'
import type { LocksContext } from './locks-context.ts'
import { runOnce } from './operations/once.ts'
import type {
  BeginNowOutcome,
  BeginOutcome,
  OnceContext,
  OnceOutcome,
} from './operations/operation-handle.ts'
import { currentScope, inheritedParty, type TaskScope } from './request/task-context.ts'
import { type LockWatch, WatchStream } from './watch-stream.ts'

/** What a `Locks` is made of; `connect` and `createLocks` see to it. */
export interface LocksParts {
  readonly context: LocksContext
  readonly node: string
  readonly ttlMs: number
  /** Gives back the engine, where it was opened for this `Locks`. */
  readonly closeEngine?: (() => Promise<void>) | undefined
}

/** What `withLock` runs while the lock is held. */
export type WithLock<Result> = (lock: LockHandle) => Result | Promise<Result>

/**
 * Locks of one engine. Get one from `connect`, or from `createLocks` for an engine in hand.
 *
 * Every failure is a `LockError` with a stable `code`; see `ERROR_CATALOGUE`.
 */
export class Locks implements AsyncDisposable {
  readonly #context: LocksContext
  readonly #node: string
  readonly #defaults: AcquireTerms
  readonly #closeEngine: (() => Promise<void>) | undefined
  readonly #watches = new Set<WatchStream>()
  #closing: Promise<void> | undefined = undefined

  constructor(parts: LocksParts) {
    this.#context = parts.context
    this.#node = parts.node
    this.#defaults = Object.freeze(parseAcquireOptions({}, parts.ttlMs))
    this.#closeEngine = parts.closeEngine
  }

  /** What the engine promises beyond the rules that hold everywhere, and what it cannot. */
  get capabilities(): Capabilities {
    return this.#context.engine.capabilities
  }

  /** In whose name operations run, unless a call says otherwise. */
  get node(): string {
    return this.#node
  }

  /**
   * Run a function while holding a lock, and release it afterwards.
   *
   * Resolves to what the function returned, and rejects with what it threw: a release that fails does
   * not hide either, the lease then ends by itself. If the lock was lost before the function was done,
   * `withLock` rejects with `LOCK_LOST` even if the function succeeded, because others may have been
   * inside at the same time; `details.result` is what it had returned. Honour `lock.signal` to stop
   * earlier.
   *
   * With `followTasks`, locks that the function acquires belong to the same task: one that would wait for
   * itself, such as `withLock('a', () => locks.withLock('a', …))`, is refused with `LOCK_DEADLOCK` at once,
   * where the engine sees deadlocks.
   *
   * @example
   * ```ts
   * import { connect } from 'holdfast'
   *
   * const locks = await connect('memory:')
   * const rows = await locks.withLock('orders/42', { ttl: '10s', wait: '5s' }, async (lock) => {
   *   // Pass lock.token along as a fence and lock.signal to everything that can be cancelled.
   *   return lock.signal.aborted ? 0 : 1
   * })
   * console.log(rows)
   * await locks.close()
   * ```
   */
  withLock<Result>(key: string, run: WithLock<Result>): Promise<Result>
  withLock<Result>(
    key: string,
    options: AcquireOptions | undefined,
    run: WithLock<Result>,
  ): Promise<Result>
  withLock<Result>(
    key: string,
    options: AcquireOptions | WithLock<Result> | undefined,
    then?: WithLock<Result>,
  ): Promise<Result> {
    try {
      const isFirst = typeof options === 'function'
      const run = isFirst ? options : then
      assertFunction(run, 'withLock')
      const terms = isFirst ? this.#defaults : this.#terms(options)
      return runWithLock(this.#context, this.#ask(key, terms), run)
    } catch (error) {
      return Promise.reject(error as LockError)
    }
  }

  /**
   * Acquire a lock and hold it until it is released. Waits in order of arrival, by default until
   * `signal` aborts. Prefer `withLock`, or `await using`, which cannot forget the release.
   *
   * @example
   * ```ts
   * import { connect } from 'holdfast'
   *
   * const locks = await connect('memory:')
   * const lock = await locks.acquire('orders/42', { mode: 'read', wait: '5s' })
   * try {
   *   console.log(lock.token)
   * } finally {
   *   await lock.release()
   * }
   * await locks.close()
   * ```
   */
  acquire(key: string, options?: AcquireOptions): Promise<LockHandle> {
    try {
      const lock = this.#ask(key, this.#terms(options))
      return acquireLock(this.#context, lock, throwRefusal)
    } catch (error) {
      return Promise.reject(error as LockError)
    }
  }

  /**
   * Acquire a lock if it can be had at once, else `null`. It does not overtake the queue.
   *
   * @example
   * ```ts
   * import { connect } from 'holdfast'
   *
   * const locks = await connect('memory:')
   * const lock = await locks.tryAcquire('orders/42')
   * if (lock !== null) await lock.release()
   * await locks.close()
   * ```
   */
  async tryAcquire(key: string, options?: TryAcquireOptions): Promise<LockHandle | null> {
    const terms = { ...this.#terms(options), waitMs: 0 }
    return acquireLock(this.#context, this.#ask(key, terms), (lock, refused) =>
      refused.code === 'held' ? null : throwRefusal(lock, refused),
    )
  }

  /**
   * Acquire several locks, all or none, one after the other in byte order of their keys. A key that is
   * given twice counts once. `wait` is for all of them together.
   *
   * @example
   * ```ts
   * import { connect } from 'holdfast'
   *
   * const locks = await connect('memory:')
   * {
   *   await using both = await locks.acquireAll(['accounts/a', 'accounts/b'])
   *   console.log(both.locks.length)
   * }
   * await locks.close()
   * ```
   */
  async acquireAll(keys: readonly string[], options?: AcquireOptions): Promise<LockSet> {
    this.#assertOpen()
    const terms = this.#terms(options)
    return acquireAll(this.#context, { keys, terms, scope: this.#scope() })
  }

  /**
   * Run a function once among all callers: one runs it, the others wait and receive its value, and so do
   * later callers, for as long as the engine remembers (its retention, 5 minutes by default). If
   * it throws, nothing is remembered and the next one runs it.
   *
   * The value is what JSON can carry, at most 8 KiB, and every caller gets the JSON form of it. A function
   * that calls `once` with its own key waits for itself.
   *
   * @example
   * ```ts
   * import { connect } from 'holdfast'
   *
   * const locks = await connect('memory:')
   * const build = async () => ({ rows: 3 })
   * const { ran, value } = await locks.once('report/today', build, { version: '2' })
   * console.log(ran, value.rows)
   * await locks.close()
   * ```
   */
  async once<Value>(
    key: string,
    run: (context: OnceContext) => Value | Promise<Value>,
    options: OnceOptions = {},
  ): Promise<OnceOutcome<Value>> {
    this.#assertOpen()
    assertFunction(run, 'once')
    assertOptions(options)
    const { version, ttl } = options
    const ttlMs = parseTtl(ttl, this.#defaults.ttlMs)
    const terms = { version, ttlMs, ...parseWaitOptions(options) }
    return runOnce(this.#context, { key, run, terms })
  }

  /**
   * Begin an operation on a resource: `pull`, `update`, `delete`, or any other word. One resource runs
   * one operation at a time. Waits until it is this node's turn or the work turns out to be done; with
   * `wait: 0` it joins the queue and returns.
   *
   * The node is who runs it: if the same node begins the same operation again while it runs or waits,
   * that is the same operation, not a second one.
   */
  begin(type: string, resource: string, options: BeginNowOptions): Promise<BeginNowOutcome>
  begin(type: string, resource: string, options?: BeginOptions): Promise<BeginOutcome>
  async begin(
    type: string,
    resource: string,
    options: BeginOptions = {},
  ): Promise<BeginNowOutcome> {
    this.#assertOpen()
    assertOptions(options)
    const { ttl, node = this.#node, renew = true, meta, version, lane, coordination } = options
    const operation = new HeldOperation(this.#context, {
      ...{ type, resource, node, version, renew, lane, coordination },
      ...parseWaitOptions(options),
      ttlMs: parseTtl(ttl, this.#defaults.ttlMs),
      meta: parseMeta(meta),
    })
    return operation.ask()
  }

  /** Drop a node's reference to a resource, or all of them. Resolves to how many were dropped. */
  async unref(options: UnrefOptions = {}): Promise<number> {
    this.#assertOpen()
    assertOptions(options)
    const { resource, node = this.#node } = options
    const outcome = await this.#context.engine.apply({ kind: 'unref', resource, node })
    if (outcome.kind === 'unreferenced') return outcome.removed
    throw this.#context.refusalError(outcome, { what: 'drop references', key: resource ?? '' })
  }

  /** The nodes that reference a resource: those that pulled it and did not drop it. */
  async references(resource: string): Promise<readonly string[]> {
    this.#assertOpen()
    const reply = await this.#context.engine.read({ kind: 'references', resource })
    return reply.nodes
  }

  /** What is held or waited for, in byte order of the keys, a page at a time. */
  async list(options: ListOptions = {}): Promise<ListReply> {
    this.#assertOpen()
    assertOptions(options)
    const { prefix, owner, kind: namespace, limit, cursor } = options
    return this.#context.engine.read({ kind: 'list', prefix, owner, namespace, limit, cursor })
  }

  /** Who holds a key, who waits for it, and what is remembered of it. */
  async inspect(key: string, options: InspectOptions = {}): Promise<InspectReply> {
    this.#assertOpen()
    assertOptions(options)
    const { kind: namespace, queueLimit } = options
    return this.#context.engine.read({ kind: 'inspect', key, namespace, queueLimit })
  }

  /** The last holds that ended, newest first, where the engine keeps them (`capabilities.history`). */
  async history(options: HistoryOptions = {}): Promise<readonly HistoryEntry[]> {
    this.#assertOpen()
    assertOptions(options)
    const { key, kind: namespace, limit } = options
    const reply = await this.#context.engine.read({ kind: 'history', key, namespace, limit })
    return reply.ends
  }

  /**
   * Be told of changes as they happen. A reader that is more than 1,000 events behind is told `reset`
   * instead. A watch does not keep the process alive.
   */
  watch(options: WatchOptions = {}): LockWatch {
    this.#assertOpen()
    assertOptions(options)
    const { prefix, kind: namespace, signal } = options
    assertSignal(signal)
    const filter = { prefix, namespace }
    const problem = problemWithFilter(filter)
    if (problem !== undefined) throw toInvalidArgument({ kind: 'watch' }, problem)
    const stream = new WatchStream({
      engine: this.#context.engine,
      filter,
      signal,
      onClose: (closed) => this.#watches.delete(closed),
    })
    this.#watches.add(stream)
    return stream
  }

  /**
   * End the holds of a key, or of one owner on it, by an operator's word. Resolves to how many ended. Their holders learn
   * of it at their next renewal; only the fencing token stops them before that.
   */
  async forceRelease(key: string, options: ForceReleaseOptions = {}): Promise<number> {
    this.#assertOpen()
    assertOptions(options)
    const { owner, kind: namespace } = options
    const outcome = await this.#context.engine.apply({ kind: 'force', key, owner, namespace })
    if (outcome.kind === 'forced') return outcome.count
    throw this.#context.refusalError(outcome, { what: `force the release of "${key}"`, key })
  }

  /**
   * Stop. Waits are called off; locks that are still held count as lost (`closed`) and are not renewed
   * any more. They are not released: their holders may still be at work, so their leases run out. Only
   * what is held in a session of a lock server ends with the good-bye that `connect` says at its close.
   * Closes the engine if `connect` opened it for this. Idempotent.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#context.close()
    await Promise.all([...this.#watches].map((watch) => watch.close()))
    await this.#closeEngine?.()
  }

  #terms(options: AcquireOptions | undefined): AcquireTerms {
    return options === undefined
      ? this.#defaults
      : parseAcquireOptions(options, this.#defaults.ttlMs)
  }

  #ask(key: string, terms: AcquireTerms): HeldLock {
    this.#assertOpen()
    const lock = new HeldLock(this.#context, terms, key)
    const scope = this.#scope()
    if (scope !== undefined) lock.joinTask(scope, inheritedParty(scope))
    return lock
  }

  #scope(): TaskScope | undefined {
    return this.#context.tracksTasks ? currentScope() : undefined
  }

  #assertOpen(): void {
    if (this.#context.isClosed) throw this.#context.closedError()
  }
}

import type { Mode } from '../../law/model/view.ts'
import type { Duration } from '../options/durations.ts'
import type { WaitOptions } from '../options/lock-options.ts'

/**
 * A lock that is held.
 *
 * It is renewed by itself until it is released. A lock can be lost all the same: the engine becomes
 * unreachable, an operator forces it, the process is paused for longer than the lease. Then `signal`
 * aborts. The handle does not need to be told: it keeps a deadline of its own on this process's
 * monotonic clock, the lease counted from the moment at which the winning request was *sent*, less
 * 1 % (at least 5 ms). A lost lock stays lost; no renewal revives it.
 *
 * If the event loop is blocked for longer than the lease, nothing can run that would abort `signal` in
 * time. Trust ends at the next look: `isHeld` and `signal.aborted` are right as soon as they are read
 * through the handle. While the machine itself sleeps, its monotonic clock stands still, and the handle
 * learns of the loss with the first renewal afterwards. Work that was already under way is fenced off by
 * `token`, if the resource checks it.
 *
 * @example
 * ```ts
 * import { connect } from 'holdfast'
 *
 * const locks = await connect('memory:')
 * {
 *   await using lock = await locks.acquire('orders/42', { ttl: '10s', wait: '5s' })
 *   console.log(lock.key, lock.token, lock.isHeld)
 * } // released here
 * await locks.close()
 * ```
 */
export interface LockHandle extends AsyncDisposable {
  readonly key: string

  /** Who holds it, as others see it. */
  readonly owner: string

  /** Changes with `upgrade` and `downgrade`. */
  readonly mode: Mode

  /**
   * The fencing token: an integer that only grows for a key. Pass it to the resource that the lock
   * protects, and let that refuse anything older than what it has seen. `upgrade` gives a new one.
   */
  readonly token: number

  /**
   * Aborts when the lock is lost, with a `ConflictError` (`LOCK_LOST`) whose `details.reason` is a
   * `LossReason`. Never aborts because of a release.
   */
  readonly signal: AbortSignal

  /** Whether the lock may still be relied on. False once it is released or lost. */
  readonly isHeld: boolean

  /** How long it may be relied on if nothing is heard from the engine any more; 0 when not held. */
  readonly remainingMs: number

  /**
   * From reading to writing. Waits until this is the only reader, ahead of every waiter in the queue, and
   * gets a new `token`. The read lock is kept while it waits, and if the wait fails. Nothing happens
   * if it is already a writer.
   *
   * Rejects with `LOCK_UPGRADE_CONFLICT` at once if another reader already waits to upgrade: the two
   * would wait for each other. Release the lock then, and start over.
   *
   * @example
   * ```ts
   * import { connect } from 'holdfast'
   *
   * const locks = await connect('memory:')
   * const lock = await locks.acquire('orders/42', { mode: 'read' })
   * await lock.upgrade({ wait: '1s' })
   * await lock.release()
   * await locks.close()
   * ```
   */
  upgrade(options?: WaitOptions): Promise<void>

  /**
   * From writing to reading, without another holder in between. Keeps the token. `mode` is `read` as soon
   * as this is called: from then on, other readers may be there too.
   */
  downgrade(): Promise<void>

  /**
   * Confirm the lease now, and make it last at least `ttl` from now (default: as acquired). Rejects
   * with `LOCK_LOST` if the engine says that it is not held any more.
   */
  renew(ttl?: Duration): Promise<void>

  /**
   * Give it up. Renewal stops first. Can be called again, and at the same time: all calls are one. It
   * does not reject because the lock was lost. It rejects if the engine cannot be reached; the lease
   * then ends by itself. `await using` releases too, and never rejects.
   */
  release(): Promise<void>

  /**
   * Stop renewing and let the lease run out, for work that goes on elsewhere. `await using` does not
   * release a detached lock; `release()` still does.
   *
   * Over a session of a lock server, the lock of an owner that is not your own choice is held in the
   * session of this process, and no detaching changes that: it runs out with its lease, but ends earlier
   * if the process closes its locks or dies. Acquire with an `owner` of your own what has to outlive
   * this process; the process that goes on with the work needs that name anyway, to take the lock on.
   */
  detach(): void
}

import type { LockEngine } from '../../engine/engine.ts'
import { toCancel, type WaitingCommand } from '../../engine/waits/waiting-command.ts'
import type { CancelReason, Command } from '../../law/model/commands.ts'

/** A request whose answer has not reached its client. */
export interface HeldRequest<Key = unknown> {
  /** The same for every asking of the request. */
  readonly key: Key
  /** The engine as the client's principal may use it. */
  readonly engine: LockEngine
  readonly command: WaitingCommand
}

/** Where they are kept, by key. A `Map` is one. */
interface RequestTable<Key, Held> {
  readonly size: number
  get(key: Key): Held | undefined
  set(key: Key, held: Held): unknown
  delete(key: Key): boolean
  values(): Iterable<Held>
  clear(): void
}

/**
 * Requests that are held open while they wait, over HTTP and in sessions. Where a connection breaks, its
 * owner decides when the request is given up: the place in the queue is left, and a grant that was not
 * delivered is undone. A request that is asked for again belongs to the newer connection; what becomes
 * of the older one means nothing any more.
 */
export class HeldRequests<Key, Held extends HeldRequest<Key>> {
  readonly #latest: RequestTable<Key, Held>

  constructor(latest: RequestTable<Key, Held> = new Map<Key, Held>()) {
    this.#latest = latest
  }

  get size(): number {
    return this.#latest.size
  }

  get(key: Key): Held | undefined {
    return this.#latest.get(key)
  }

  all(): Held[] {
    return [...this.#latest.values()]
  }

  hold(held: Held): void {
    this.#latest.set(held.key, held)
  }

  /** It needs no keeping any more. False if it was asked for again, or is over already. */
  drop(held: Held): boolean {
    return this.#latest.get(held.key) === held && this.#latest.delete(held.key)
  }

  /** Give it up, unless it is over. Never rejects. */
  async withdraw(held: Held, reason: CancelReason): Promise<void> {
    if (!this.drop(held)) return
    try {
      await held.engine.apply<Command>(toCancel(held.command, reason))
    } catch {
      // The engine is failing or closed: the lease of the waiter or of the grant ends it.
    }
  }

  /** The server stops. Nothing is withdrawn because of it: clients go on with the next server. */
  clear(): void {
    this.#latest.clear()
  }
}

import type { LockEngine, WatchEvent, WatchFilter, Watching } from '../engine/engine.ts'
import { WATCH_EVENTS_MAX } from './options/locks-limits.ts'

/**
 * Changes on keys, as they happen. Iterate over it once; leaving the loop closes it. Events are hints:
 * when a `reset` comes, some were missed, and the state has to be read again.
 *
 * @example
 * ```ts
 * import { connect } from 'holdfast'
 *
 * const locks = await connect('memory:')
 * const watch = locks.watch({ prefix: 'orders/' })
 * await watch.ready
 * await locks.withLock('orders/42', async () => {})
 * for await (const event of watch) {
 *   if (event.kind === 'released') break
 * }
 * await locks.close()
 * ```
 */
export interface LockWatch extends AsyncIterable<WatchEvent>, AsyncDisposable {
  /** Resolves when every later change will be told; rejects if the engine refuses to be watched. */
  readonly ready: Promise<void>
  /** Stop. The iteration ends after what has already arrived. Idempotent. */
  close(): Promise<void>
}

export interface WatchStreamOptions {
  readonly engine: LockEngine
  readonly filter: WatchFilter
  readonly signal?: AbortSignal | undefined
  readonly onClose: (stream: WatchStream) => void
}

type Reader = (result: IteratorResult<WatchEvent, undefined>) => void

/** Turns the calls of a listener into an iteration, and forgets rather than grows. */
export class WatchStream implements LockWatch {
  readonly ready: Promise<void>
  readonly #options: WatchStreamOptions
  readonly #watching: Promise<Watching>
  readonly #onAbort = (): void => {
    // The reader learns that it ended; a failure of the engine to stop changes nothing for it.
    this.close().catch(() => undefined)
  }
  #events: WatchEvent[] = []
  #readers: Reader[] = []
  #closed = false

  constructor(options: WatchStreamOptions) {
    this.#options = options
    this.#watching = options.engine.watch(options.filter, (event) => this.#take(event))
    this.ready = this.#watching.then(() => undefined)
    // A reader that does not look at `ready` learns of a failure by iterating.
    this.ready.catch(() => this.#end())
    options.signal?.addEventListener('abort', this.#onAbort, { once: true })
    if (options.signal?.aborted === true) this.#onAbort()
  }

  [Symbol.asyncIterator](): AsyncIterator<WatchEvent, undefined> {
    return {
      next: async () => {
        await this.ready
        return this.#next()
      },
      return: async () => {
        await this.close()
        return { done: true, value: undefined }
      },
    }
  }

  async close(): Promise<void> {
    this.#end()
    const watching = await this.#watching.catch(() => null)
    await watching?.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #next(): Promise<IteratorResult<WatchEvent, undefined>> {
    const event = this.#events.shift()
    if (event !== undefined) return Promise.resolve({ done: false, value: event })
    if (this.#closed) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => {
      this.#readers.push(resolve)
    })
  }

  #take(event: WatchEvent): void {
    if (this.#closed) return
    const reader = this.#readers.shift()
    if (reader !== undefined) return reader({ done: false, value: event })
    if (this.#events.length < WATCH_EVENTS_MAX) {
      this.#events.push(event)
      return
    }
    this.#events = [{ kind: 'reset', id: event.id, atMs: event.atMs }]
  }

  #end(): void {
    if (this.#closed) return
    this.#closed = true
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    this.#options.onClose(this)
    for (const reader of this.#readers) reader({ done: true, value: undefined })
    this.#readers = []
  }
}

import type { WatchEvent, WatchFilter, Watching, WatchListener } from '../../engine/engine.ts'
import type { Clock } from '../../time/clock.ts'
import type { Unwatch, Watch } from '../../wire/session/session-message.ts'

/** The pause before a watch that the server has refused is opened again. */
const REOPEN_MS = 1_000

export interface SessionWatchesOptions {
  readonly clock: Clock
  /** Send a request and wait for its answer. */
  readonly ask: (request: Watch | Unwatch) => Promise<unknown>
  readonly isUp: () => boolean
  /** Whether the engine still asks for anything. */
  readonly isStopped: () => boolean
}

/** One watch, across the connections and servers that it is told through. Events carry its id. */
interface SessionWatch {
  readonly id: number
  readonly filter: WatchFilter
  readonly listener: WatchListener
  /** Whether the request that opens it is under way. */
  isOpening: boolean
}

/** Every watch of an engine. */
export class SessionWatches {
  readonly #options: SessionWatchesOptions
  readonly #open = new Map<number, SessionWatch>()
  #lastWatch = 0
  #lastEvent = 0

  constructor(options: SessionWatchesOptions) {
    this.#options = options
  }

  async add(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    this.#lastWatch += 1
    const watch: SessionWatch = { id: this.#lastWatch, filter, listener, isOpening: false }
    this.#open.set(watch.id, watch)
    try {
      await this.#ask(watch)
    } catch (error) {
      this.#open.delete(watch.id)
      throw error
    }
    let closing: Promise<void> | undefined
    const close = (): Promise<void> => (closing ??= this.#remove(watch))
    return { close, [Symbol.asyncDispose]: close }
  }

  /** Ids of events are this engine's own: those of two servers have nothing to do with each other. */
  tell(id: number, event: WatchEvent): void {
    this.#lastEvent += 1
    this.#open.get(id)?.listener({ ...event, id: this.#lastEvent })
  }

  /** Connected again. A watch ends with its connection; what happened meanwhile is not known. */
  reopen(): void {
    for (const watch of this.#open.values()) void this.#reopen(watch)
  }

  clear(): void {
    this.#open.clear()
  }

  async #remove(watch: SessionWatch): Promise<void> {
    if (!this.#open.delete(watch.id) || this.#options.isStopped()) return
    await this.#options.ask({ kind: 'unwatch', watch: watch.id })
  }

  async #ask(watch: SessionWatch): Promise<void> {
    const { id, filter } = watch
    const { prefix, namespace } = filter
    watch.isOpening = true
    try {
      await this.#options.ask({ kind: 'watch', watch: id, prefix, namespace })
    } finally {
      watch.isOpening = false
    }
  }

  async #reopen(watch: SessionWatch): Promise<void> {
    const { clock, isUp, isStopped } = this.#options
    if (this.#open.get(watch.id) !== watch || watch.isOpening || isStopped()) return
    try {
      await this.#ask(watch)
      this.tell(watch.id, { kind: 'reset', id: 0, atMs: clock.wallMs() })
    } catch {
      // If the server is gone again, every watch is opened again when it is back. If it is there and does not
      // take the watch now, others have too many, or its engine is failing.
      if (isUp()) clock.setTimer(REOPEN_MS, () => void this.#reopen(watch))
    }
  }
}

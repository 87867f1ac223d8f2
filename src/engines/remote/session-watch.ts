import type { WatchEvent, WatchFilter, Watching, WatchListener } from '../../engine/engine.ts'

export interface SessionWatchParts {
  /** Events carry this number. */
  readonly id: number
  readonly filter: WatchFilter
  readonly listener: WatchListener
  readonly nextId: () => number
  readonly onClose: (watch: SessionWatch) => Promise<void>
}

/** One watch, across the connections and servers that it is told through. */
export class SessionWatch implements Watching {
  readonly id: number
  /** Whether the request that opens it is under way. */
  isOpening = false
  readonly filter: WatchFilter
  readonly #parts: SessionWatchParts
  #closing: Promise<void> | undefined

  constructor(parts: SessionWatchParts) {
    this.id = parts.id
    this.filter = parts.filter
    this.#parts = parts
  }

  /** Ids are this engine's own: those of two servers have nothing to do with each other. */
  tell(event: WatchEvent): void {
    if (this.#closing === undefined) this.#parts.listener({ ...event, id: this.#parts.nextId() })
  }

  reset(atMs: number): void {
    this.tell({ kind: 'reset', id: 0, atMs })
  }

  close(): Promise<void> {
    this.#closing ??= this.#parts.onClose(this)
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

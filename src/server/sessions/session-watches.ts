import type { LockEngine, WatchEvent, WatchFilter, Watching } from '../../engine/engine.ts'

export interface SessionWatchesParts {
  readonly engine: LockEngine
  /** Counts a watch, or throws where there are too many; returns how to say that it is over. */
  readonly take: () => () => void
  readonly tell: (watch: number, event: WatchEvent) => void
  /** Whether the client keeps up with what it is told. */
  readonly hasRoom: () => boolean
}

interface Watch {
  watching: Watching | undefined
  /** The latest event that was not told, because the client is too far behind. */
  missed: WatchEvent | undefined
  isClosed: boolean
  /** It is not counted any more. */
  readonly leave: () => void
}

/** The watches of one connection. A client that does not keep up is told so, once, instead of more events. */
export class SessionWatches {
  readonly #parts: SessionWatchesParts
  readonly #watches = new Map<number, Watch>()
  #isClosed = false

  constructor(parts: SessionWatchesParts) {
    this.#parts = parts
  }

  async open(id: number, filter: WatchFilter): Promise<void> {
    if (this.#isClosed) return
    const before = this.#forget(id)
    const leave = this.#parts.take()
    const watch: Watch = { watching: undefined, missed: undefined, isClosed: false, leave }
    this.#watches.set(id, watch)
    try {
      await before?.watching?.close()
      const listener = (event: WatchEvent): void => this.#tell(id, watch, event)
      watch.watching = await this.#parts.engine.watch(filter, listener)
    } catch (error) {
      if (this.#watches.get(id) === watch) this.#forget(id)
      throw error
    }
    if (watch.isClosed) await watch.watching.close()
  }

  async close(id: number): Promise<void> {
    await this.#forget(id)?.watching?.close()
  }

  closeAll(): void {
    this.#isClosed = true
    for (const id of [...this.#watches.keys()]) {
      // If a watch cannot be closed, nothing that it tells is passed on.
      this.close(id).catch(() => {})
    }
  }

  /** The client has room again: what has missed something is told so. */
  catchUp(): void {
    for (const [id, watch] of this.#watches) {
      const { missed } = watch
      if (missed === undefined) continue
      watch.missed = undefined
      this.#parts.tell(id, { kind: 'reset', id: missed.id, atMs: missed.atMs })
    }
  }

  #forget(id: number): Watch | undefined {
    const watch = this.#watches.get(id)
    if (watch === undefined) return undefined
    this.#watches.delete(id)
    watch.isClosed = true
    watch.leave()
    return watch
  }

  #tell(id: number, watch: Watch, event: WatchEvent): void {
    if (watch.isClosed) return
    if (watch.missed !== undefined || !this.#parts.hasRoom()) watch.missed = event
    else this.#parts.tell(id, event)
  }
}

import type { LockEngine, WatchEvent, WatchFilter, Watching } from '../../engine/engine.ts'
import { writeEvent } from '../../protocol/session/server-frames.ts'
import { EVENT_BYTES_MAX } from './connection-limits.ts'
import type { Outbox } from './outbox.ts'

interface Watch {
  watching: Watching | undefined
  /** The latest event that was not told, because the client is too far behind. */
  missed: WatchEvent | undefined
  isClosed: boolean
  /** It is not counted any more. */
  readonly leave: () => void
}

/** The watches of one session. A client that does not keep up is told so, once, instead of more events. */
export class SessionWatches {
  readonly #engine: LockEngine
  readonly #outbox: Outbox
  readonly #take: () => () => void
  readonly #watches = new Map<number, Watch>()

  /** `take` counts a watch or throws, and returns how to say that it is over. */
  constructor(engine: LockEngine, outbox: Outbox, take: () => () => void) {
    this.#engine = engine
    this.#outbox = outbox
    this.#take = take
  }

  async open(id: number, filter: WatchFilter): Promise<void> {
    const leave = this.#take()
    const watch: Watch = { watching: undefined, missed: undefined, isClosed: false, leave }
    this.#watches.set(id, watch)
    try {
      watch.watching = await this.#engine.watch(filter, (event) => this.#tell(id, watch, event))
    } catch (error) {
      this.#forget(id)
      throw error
    }
    if (watch.isClosed) await watch.watching.close()
  }

  async close(id: number): Promise<void> {
    await this.#forget(id)?.watching?.close()
  }

  closeAll(): void {
    for (const id of [...this.#watches.keys()]) {
      // A watch that cannot be closed has no one left to tell anything.
      this.close(id).catch(() => {})
    }
  }

  /** The client has confirmed what it was told: whoever fell behind hears of it now. */
  catchUp(): void {
    if (this.#outbox.keptBytes > EVENT_BYTES_MAX / 2) return
    for (const [id, watch] of this.#watches) {
      if (watch.missed === undefined) continue
      const { id: eventId, atMs } = watch.missed
      watch.missed = undefined
      writeEvent(this.#outbox.open(), id, { kind: 'reset', id: eventId, atMs })
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
    if (watch.missed !== undefined || this.#outbox.keptBytes > EVENT_BYTES_MAX) {
      watch.missed = event
      return
    }
    writeEvent(this.#outbox.open(), id, event)
  }
}

import type { WatchEvent } from '../../engine/engine.ts'
import { writeEvent } from '../../wire/json/event-body.ts'
import type { EventHub } from './event-hub.ts'
import type { EventStream } from './event-stream.ts'

export interface EventFeedOptions {
  readonly hub: EventHub
  readonly stream: EventStream
  /** An event as this listener may hear of it; `undefined` for one that it does not. */
  readonly show: (event: WatchEvent) => WatchEvent | undefined
  /** The time of day. */
  readonly wallMs: () => number
}

/** After this many events that were not for this listener it is told where the stream stands. */
const SKIPPED_MAX = 1_024

/** Sends a stream what the hub tells, from a given event on, as fast as the client takes it. */
export class EventFeed {
  readonly #options: EventFeedOptions
  #skipped = 0
  #isCatchingUp = false

  constructor(options: EventFeedOptions) {
    this.#options = options
    const { hub, stream } = options
    const hear = (event: WatchEvent, number: number): void => {
      if (!this.#isCatchingUp) this.#tell(event, number)
    }
    stream.onClose(hub.follow())
    stream.onClose(hub.listen(hear))
  }

  /** Starts after the event with this id; with what comes next where none is given. */
  start(afterId: string | undefined): void {
    const { hub, stream } = this.#options
    if (afterId === undefined) stream.send({ id: hub.lastId })
    else void this.#catchUp(afterId)
  }

  #tell(event: WatchEvent, number: number): void {
    const { hub, stream, show } = this.#options
    const shown = show(event)
    this.#skipped = shown === undefined ? this.#skipped + 1 : 0
    if (shown !== undefined) this.#send(shown, hub.idOf(number))
    else if (this.#skipped % SKIPPED_MAX === 0) stream.send({ id: hub.idOf(number) })
  }

  #send(event: WatchEvent, id: string): void {
    const name = event.kind === 'reset' ? 'reset' : undefined
    this.#options.stream.send({ id, event: name, data: writeEvent(event, id) })
  }

  /** What comes meanwhile is kept by the hub; if that forgets it, the listener is told so. */
  async #catchUp(afterId: string): Promise<void> {
    const { hub, stream, wallMs } = this.#options
    let place = afterId
    this.#isCatchingUp = true
    while (stream.isOpen) {
      const missed = hub.since(place)
      if (missed === undefined) {
        this.#send({ kind: 'reset', id: 0, atMs: wallMs() }, hub.lastId)
        break
      }
      if (missed.length === 0) break
      for (const { number, event } of missed) {
        this.#tell(event, number)
        place = hub.idOf(number)
        if (stream.isFull) break
      }
      await stream.drained()
    }
    this.#isCatchingUp = false
  }
}

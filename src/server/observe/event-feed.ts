import type { EventHub, NumberedEvent } from './event-hub.ts'
import type { EventStream, StreamEvent } from './event-stream.ts'

export interface EventFeedOptions {
  readonly hub: EventHub
  readonly stream: EventStream
  /** What is sent of an event; `undefined` for one that this listener does not hear of. */
  readonly show: (numbered: NumberedEvent) => StreamEvent | undefined
  /** What is sent when events were missed, at this place. */
  readonly showReset: (id: string) => StreamEvent
}

/** After this many events that were not for this listener it is told where the stream stands. */
const SKIPPED_MAX = 1_024

/** Sends a stream what the hub tells, from a given event on, as fast as the client takes it. */
export class EventFeed {
  readonly #options: EventFeedOptions
  #place: string | NumberedEvent = ''
  #skipped = 0
  #isCatchingUp = false

  constructor(options: EventFeedOptions) {
    this.#options = options
    const { hub, stream } = options
    stream.onClose(hub.follow())
    stream.onClose(hub.listen((numbered) => this.#hear(numbered)))
  }

  /** Starts after the event with this id; with what comes next where none is given. */
  start(afterId: string | undefined): void {
    const { hub, stream } = this.#options
    if (afterId === undefined) {
      const id = hub.lastId
      this.#place = id
      stream.send({ id })
    } else {
      this.#place = afterId
      void this.#catchUp()
    }
  }

  #hear(numbered: NumberedEvent): void {
    if (!this.#isCatchingUp) this.#tell(numbered)
  }

  #tell(numbered: NumberedEvent): void {
    const { stream, show } = this.#options
    const event = show(numbered)
    this.#place = numbered
    this.#skipped = event === undefined ? this.#skipped + 1 : 0
    if (event !== undefined) stream.send(event)
    else if (this.#skipped % SKIPPED_MAX === 0) stream.send({ id: numbered.id })
  }

  /** What comes meanwhile is kept by the hub; if that forgets it, the listener is told so. */
  async #catchUp(): Promise<void> {
    const { hub, stream, showReset } = this.#options
    this.#isCatchingUp = true
    while (stream.isOpen) {
      const missed = hub.since(idOf(this.#place))
      if (missed === undefined) {
        const id = hub.lastId
        this.#place = id
        stream.send(showReset(id))
        break
      }
      if (missed.length === 0) break
      for (const numbered of missed) {
        this.#tell(numbered)
        if (stream.isFull) break
      }
      await stream.drained()
    }
    this.#isCatchingUp = false
  }
}

function idOf(place: string | NumberedEvent): string {
  return typeof place === 'string' ? place : place.id
}

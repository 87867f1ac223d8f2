import type { WatchEvent, WatchFilter, Watching, WatchListener } from '../../../engine/engine.ts'
import type { LockError } from '../../../engine/errors/errors.ts'
import type { Clock, Timer } from '../../../time/clock.ts'
import type { Connection, PendingCall } from './connection.ts'
import type { EngineHost } from '../engine-host.ts'
import type { SimulatedNetwork } from './simulated-network.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { EventPlace } from '../oracle/watch-board.ts'
import type { FeedMessage } from '../oracle/watch-feed.ts'

/** Messages overtake each other; what is missing for longer than this is lost. */
const GAP_MS_MAX = 500
/** The engine's side says something at least every second. */
const SILENCE_MS_MAX = 2_500
const RETRY_MS = 100

export interface LinkWatchParts {
  readonly filter: WatchFilter
  readonly listener: WatchListener
  readonly network: SimulatedNetwork
  readonly host: EngineHost
  readonly process: SimulatedProcess
  /** The client's. */
  readonly clock: Clock
  /** The connection of the link, or a new one; `undefined` while there can be none. */
  readonly connect: () => Connection | undefined
  /** Numbers what the client is told. */
  readonly nextId: () => number
  /** Told where the events begin that follow after this id. */
  readonly onBegan: (id: number, place: EventPlace) => void
  readonly unreachable: () => LockError
}

/**
 * A watch over a link. Events are numbered by the other side; where one is missing, or nothing is heard
 * any more, the watch is begun anew and its listener told `reset`.
 */
export class LinkWatch implements Watching {
  readonly #parts: LinkWatchParts
  #attempt: WatchAttempt | undefined
  #opening: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined
  #isClosed = false

  constructor(parts: LinkWatchParts) {
    this.#parts = parts
  }

  /** Rejects if the first attempt fails; later ones are repeated for as long as it takes. */
  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#opening = { resolve, reject }
      this.#begin()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#attempt?.stop()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #begin(): void {
    if (this.#isClosed) return
    const connection = this.#parts.connect()
    if (connection === undefined) return this.#onBroken()
    this.#attempt = new WatchAttempt(this.#parts, connection, {
      onBegan: (place) => this.#onBegan(place),
      onEvent: (event) => this.#parts.listener({ ...event, id: this.#parts.nextId() }),
      onBroken: () => this.#onBroken(),
    })
    this.#attempt.start()
  }

  #onBegan(place: EventPlace): void {
    const { nextId, onBegan, listener, clock } = this.#parts
    const id = nextId()
    onBegan(id, place)
    if (this.#opening === undefined) return listener({ kind: 'reset', id, atMs: clock.wallMs() })
    this.#opening.resolve()
    this.#opening = undefined
  }

  #onBroken(): void {
    const { clock, unreachable } = this.#parts
    if (this.#opening === undefined) clock.setTimer(RETRY_MS, () => this.#begin())
    else this.#opening.reject(unreachable())
  }
}

interface AttemptEvents {
  readonly onBegan: (place: EventPlace) => void
  readonly onEvent: (event: WatchEvent) => void
  /** Once, unless it is stopped before. */
  readonly onBroken: () => void
}

/** From asking to be told to the first thing that goes wrong with it. */
class WatchAttempt implements PendingCall {
  readonly #parts: LinkWatchParts
  readonly #connection: Connection
  readonly #events: AttemptEvents
  /** What has overtaken something that was sent before it. */
  readonly #early = new Map<number, FeedMessage>()
  #next = 0
  #gap: Timer | undefined
  #silence: Timer | undefined
  #isOver = false
  /** The other side knows that it is over. */
  #isHeard = false

  constructor(parts: LinkWatchParts, connection: Connection, events: AttemptEvents) {
    this.#parts = parts
    this.#connection = connection
    this.#events = events
  }

  start(): void {
    const connection = this.#connection
    connection.pending.add(this)
    this.#waitForSign()
    this.#parts.network.send(connection.toEngine, 'drop-request', () => this.#arrive())
  }

  stop(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#gap?.cancel()
    this.#silence?.cancel()
    this.#connection.pending.delete(this)
    this.#parts.network.send(this.#connection.toEngine, 'drop-request', () => {
      this.#isHeard = true
    })
  }

  fail(): void {
    this.#parts.process.run(() => this.#break())
  }

  #break(): void {
    if (this.#isOver) return
    this.stop()
    this.#events.onBroken()
  }

  /** At the other side. */
  #arrive(): void {
    const { host, filter, network, process } = this.#parts
    const connection = this.#connection
    const isOver = (): boolean => this.#isHeard || connection.isKnownCut
    if (isOver() || !host.isServing(connection.life)) return
    host.watch({
      filter,
      isOver,
      send: (message) => {
        const arrive = (): void => process.run(() => this.#take(message))
        network.send(connection.toClient, 'drop-answer', arrive)
      },
    })
  }

  #take(message: FeedMessage): void {
    if (this.#isOver) return
    this.#waitForSign()
    const isMark = message.event === undefined && message.place === undefined
    if (!isMark && message.number >= this.#next) this.#early.set(message.number, message)
    this.#tellWhatIsNext()
    const isComplete = this.#early.size === 0 && message.number < this.#next
    if (isComplete) {
      this.#gap?.cancel()
      this.#gap = undefined
    } else {
      this.#gap ??= this.#parts.clock.setTimer(GAP_MS_MAX, () => this.#break())
    }
  }

  #tellWhatIsNext(): void {
    for (;;) {
      const message = this.#early.get(this.#next)
      if (message === undefined || this.#isOver) return
      this.#early.delete(this.#next)
      this.#next += 1
      if (message.place !== undefined) this.#events.onBegan(message.place)
      if (message.event !== undefined) this.#events.onEvent(message.event)
    }
  }

  #waitForSign(): void {
    this.#silence?.cancel()
    this.#silence = this.#parts.clock.setTimer(SILENCE_MS_MAX, () => this.#break())
  }
}

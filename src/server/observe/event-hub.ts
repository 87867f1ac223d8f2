import type { LockEngine, WatchEvent, Watching } from '../../engine/engine.ts'

/** An event with its place in this server's row of events. */
export interface NumberedEvent {
  /** Opaque to clients; names this life of this server and the place in it. */
  readonly id: string
  readonly event: WatchEvent
}

export type HubListener = (numbered: NumberedEvent) => void

export interface EventHubOptions {
  /** A name that no other life of any server has, so that ids of another life are noticed. */
  readonly life: string
  /** How many events are kept for those who come back. */
  readonly kept: number
  /** Real time: it is connections that break. */
  readonly nowMs: () => number
}

/** Clients come back within seconds; a minute or two is for those whose network was gone. */
const COME_BACK_MS = 120_000

/**
 * Every change of the engine, heard once and told to all who listen in this server: streams, sessions,
 * metrics. While someone follows who may come back, and for a while after, the latest events are kept, so
 * that a client that was away for a moment misses nothing. Otherwise they are only counted.
 */
export class EventHub {
  readonly #options: EventHubOptions
  readonly #listeners = new Set<HubListener>()
  /** The latest events, in a ring; absent while none are kept. */
  #recent: NumberedEvent[] | undefined
  /** The last event that came before the first one that was kept. */
  #before = 0
  #followers = 0
  #leftAtMs = 0
  #last = 0
  #watching: Watching | undefined

  constructor(options: EventHubOptions) {
    this.#options = options
  }

  async open(engine: LockEngine): Promise<void> {
    this.#watching = await engine.watch({}, (event) => this.#tell(event))
  }

  async close(): Promise<void> {
    this.#listeners.clear()
    await this.#watching?.close()
  }

  /** The id of the latest event: what comes after it is new. */
  get lastId(): string {
    return toId(this.#options.life, this.#last)
  }

  /** Returns how to stop. */
  listen(listener: HubListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** From here on events are kept for one who may come back. Returns how to say that it has gone. */
  follow(): () => void {
    if (this.#recent === undefined) {
      this.#recent = []
      this.#before = this.#last
    }
    this.#followers += 1
    let isFollowing = true
    return () => {
      if (!isFollowing) return
      isFollowing = false
      this.#followers -= 1
      this.#leftAtMs = this.#options.nowMs()
    }
  }

  /** What came after an event, oldest first; `undefined` when that is no longer known. */
  since(id: string): readonly NumberedEvent[] | undefined {
    const [life, number] = splitId(id)
    if (life !== this.#options.life || !(number <= this.#last)) return undefined
    if (number === this.#last) return []
    const { kept } = this.#options
    const recent = this.#recent
    if (recent === undefined || number < this.#before || this.#last - number > kept) {
      return undefined
    }
    const missed: NumberedEvent[] = []
    for (let next = number + 1; next <= this.#last; next += 1) {
      missed.push(recent[this.#placeOf(next)] as NumberedEvent)
    }
    return missed
  }

  #tell(event: WatchEvent): void {
    this.#last += 1
    const numbered = new Numbered(this.#options.life, this.#last, event)
    if (this.#recent !== undefined) this.#keep(numbered, this.#recent)
    for (const listener of this.#listeners) listener(numbered)
  }

  #keep(numbered: NumberedEvent, recent: NumberedEvent[]): void {
    const { nowMs } = this.#options
    if (this.#followers === 0 && nowMs() - this.#leftAtMs > COME_BACK_MS) this.#recent = undefined
    else recent[this.#placeOf(this.#last)] = numbered
  }

  #placeOf(number: number): number {
    return (number - this.#before - 1) % this.#options.kept
  }
}

/** Its id is made only for those who ask for it: most events go by without. */
class Numbered implements NumberedEvent {
  readonly event: WatchEvent
  readonly #life: string
  readonly #number: number

  constructor(life: string, number: number, event: WatchEvent) {
    this.event = event
    this.#life = life
    this.#number = number
  }

  get id(): string {
    return toId(this.#life, this.#number)
  }
}

function toId(life: string, number: number): string {
  return `${life}-${number}`
}

function splitId(id: string): readonly [life: string, number: number] {
  const dash = id.lastIndexOf('-')
  const number = /^\d{1,15}$/.test(id.slice(dash + 1)) ? Number(id.slice(dash + 1)) : Number.NaN
  return [id.slice(0, Math.max(0, dash)), number]
}

import type { LockEngine, WatchEvent, Watching } from '../../engine/engine.ts'

/** An event that was kept, with its place in this server's row of events. */
export interface NumberedEvent {
  readonly number: number
  readonly event: WatchEvent
}

export type HubListener = (event: WatchEvent, number: number) => void

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
 * Every change of the engine, heard once and told to every listener in this server: streams, sessions,
 * metrics. While a client follows that may come back, and for a while after, the latest events are kept, so
 * that a client that was away for a moment misses nothing. Otherwise they are only counted.
 */
export class EventHub {
  readonly #options: EventHubOptions
  readonly #listeners = new Set<HubListener>()
  /** The latest events, in a ring; absent while none are kept. */
  #recent: WatchEvent[] | undefined
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
    return this.idOf(this.#last)
  }

  /** Of the event with this number. Opaque to clients; names this life of this server and the place in it. */
  idOf(number: number): string {
    return `${this.#options.life}-${number}`
  }

  /** Returns how to stop. */
  listen(listener: HubListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** From here on events are kept for a client that may come back. Returns how to say that it has gone. */
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
      missed.push({ number: next, event: recent[this.#placeOf(next)] as WatchEvent })
    }
    return missed
  }

  #tell(event: WatchEvent): void {
    this.#last += 1
    if (this.#recent !== undefined) this.#keep(event, this.#recent)
    for (const listener of this.#listeners) listener(event, this.#last)
  }

  #keep(event: WatchEvent, recent: WatchEvent[]): void {
    const { nowMs } = this.#options
    if (this.#followers === 0 && nowMs() - this.#leftAtMs > COME_BACK_MS) this.#recent = undefined
    else recent[this.#placeOf(this.#last)] = event
  }

  #placeOf(number: number): number {
    return (number - this.#before - 1) % this.#options.kept
  }
}

function splitId(id: string): readonly [life: string, number: number] {
  const dash = id.lastIndexOf('-')
  const number = /^\d{1,15}$/.test(id.slice(dash + 1)) ? Number(id.slice(dash + 1)) : Number.NaN
  return [id.slice(0, Math.max(0, dash)), number]
}

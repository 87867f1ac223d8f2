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
}

/**
 * Every change of the engine, heard once and told to all who listen in this server: streams, sessions,
 * metrics. The latest events are kept, so that a client that was away for a moment misses nothing.
 */
export class EventHub {
  readonly #life: string
  readonly #kept: number
  readonly #recent: NumberedEvent[] = []
  readonly #listeners = new Set<HubListener>()
  #last = 0
  #watching: Watching | undefined

  constructor(options: EventHubOptions) {
    this.#life = options.life
    this.#kept = options.kept
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
    return this.#idOf(this.#last)
  }

  /** Returns how to stop. */
  listen(listener: HubListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** What came after an event, oldest first; `undefined` when that is no longer known. */
  since(id: string): readonly NumberedEvent[] | undefined {
    const [life, number] = splitId(id)
    const missed = this.#last - number
    if (life !== this.#life || missed < 0 || missed > this.#recent.length) return undefined
    return this.#inOrder().slice(this.#recent.length - missed)
  }

  #tell(event: WatchEvent): void {
    this.#last += 1
    const numbered = { id: this.#idOf(this.#last), event }
    this.#recent[(this.#last - 1) % this.#kept] = numbered
    for (const listener of this.#listeners) listener(numbered)
  }

  #inOrder(): readonly NumberedEvent[] {
    if (this.#recent.length < this.#kept) return this.#recent
    const oldest = this.#last % this.#kept
    return [...this.#recent.slice(oldest), ...this.#recent.slice(0, oldest)]
  }

  #idOf(number: number): string {
    return `${this.#life}-${number}`
  }
}

function splitId(id: string): readonly [life: string, number: number] {
  const dash = id.lastIndexOf('-')
  const number = /^\d{1,15}$/.test(id.slice(dash + 1)) ? Number(id.slice(dash + 1)) : Number.NaN
  return [id.slice(0, Math.max(0, dash)), number]
}

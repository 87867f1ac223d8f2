import type { Query } from '../../engine/queries.ts'
import { nextTurn } from '../../time/turn.ts'

export interface ReadQueueParts {
  /** Measures work. */
  readonly nowMs: () => number
  /** Whether the client has taken enough of what was sent before. */
  readonly hasRoom: () => boolean
  /** Resolves when the reply was written. Never rejects. */
  readonly read: (id: number, query: Query) => Promise<void>
  /** The queue has become shorter. */
  readonly onShorter: () => void
}

interface Waiting {
  readonly id: number
  readonly query: Query
}

/** Reads of one connection that the engine is asked at once. */
const AT_ONCE_MAX = 8
/** After so much work for one connection others are served. */
const TURN_MS_MAX = 5

/**
 * The reads of one connection, in their order. A reply is made when the client has room for it, and a list,
 * which may have many megabytes, is made alone: however many are asked for, few are in memory, and other
 * clients are served in between.
 */
export class ReadQueue {
  readonly #parts: ReadQueueParts
  #waiting: Waiting[] = []
  #first = 0
  #active = 0
  #isListing = false
  /** When the work of this turn of the event loop began. */
  #sinceMs = 0
  #isResting = false

  constructor(parts: ReadQueueParts) {
    this.#parts = parts
  }

  /** How many wait. */
  get length(): number {
    return this.#waiting.length - this.#first
  }

  add(id: number, query: Query): void {
    this.#waiting.push({ id, query })
    if (this.#active === 0 && this.length === 1) this.#sinceMs = this.#parts.nowMs()
    this.next()
  }

  /** Asks what may be asked now. To be called when there is room again. */
  next(): void {
    for (;;) {
      const one = this.#waiting[this.#first]
      if (one === undefined || this.#isResting || !this.#mayStart(one.query)) return
      if (this.#parts.nowMs() - this.#sinceMs > TURN_MS_MAX) return void this.#rest()
      this.#first += 1
      if (this.length === 0) this.clear()
      void this.#start(one)
    }
  }

  /** What waits is not asked: no client is there to be answered. */
  clear(): void {
    this.#waiting = []
    this.#first = 0
  }

  async #rest(): Promise<void> {
    this.#isResting = true
    await nextTurn()
    this.#isResting = false
    this.#sinceMs = this.#parts.nowMs()
    this.next()
  }

  #mayStart({ kind }: Query): boolean {
    if (this.#isListing || this.#active >= AT_ONCE_MAX) return false
    return (kind !== 'list' || this.#active === 0) && this.#parts.hasRoom()
  }

  async #start({ id, query }: Waiting): Promise<void> {
    this.#active += 1
    if (query.kind === 'list') this.#isListing = true
    await this.#parts.read(id, query)
    this.#active -= 1
    if (query.kind === 'list') this.#isListing = false
    this.next()
    this.#parts.onShorter()
  }
}

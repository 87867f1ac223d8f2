import type { Query } from '../../engine/queries.ts'

export interface ReadQueueParts {
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

/** Reads of one connection that the engine is asked at once. Replies to these are small. */
const AT_ONCE_MAX = 64

/**
 * The reads of one connection, in their order. A reply is made when the client has room for it, and a list,
 * which may have many megabytes, is made alone: however many are asked for, few are in memory.
 */
export class ReadQueue {
  readonly #parts: ReadQueueParts
  #waiting: Waiting[] = []
  #first = 0
  #active = 0
  #isListing = false

  constructor(parts: ReadQueueParts) {
    this.#parts = parts
  }

  /** How many wait. */
  get length(): number {
    return this.#waiting.length - this.#first
  }

  add(id: number, query: Query): void {
    this.#waiting.push({ id, query })
    this.next()
  }

  /** Asks what may be asked now. To be called when there is room again. */
  next(): void {
    for (;;) {
      const one = this.#waiting[this.#first]
      if (one === undefined || !this.#mayStart(one.query)) return
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

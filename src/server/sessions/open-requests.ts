import { createError } from '../../engine/errors.ts'
import { ProtocolError } from '../../protocol/session/protocol-error.ts'
import type { Count } from '../metrics/counts.ts'
import { OPEN_REQUESTS_MAX } from './connection-limits.ts'

export interface OpenRequestsParts {
  /** Counts what is asked for. */
  readonly asked: Count
  /** How many of the open ones are held open because they wait. */
  readonly countWaiting: () => number
  /** One more than there is room for. */
  readonly onTooMany: (id: number, error: Error) => void
}

/** Which requests of a session were seen, and how many of them are still to be answered. */
export class OpenRequests {
  readonly #parts: OpenRequestsParts
  #lastId = 0
  #count = 0
  /** Nothing new is begun any more. */
  #isWindingUp = false
  #onAnswered: (() => void) | undefined

  constructor(parts: OpenRequestsParts) {
    this.#parts = parts
  }

  get lastId(): number {
    return this.#lastId
  }

  /** Whether a request is new. One that was seen before is answered, or will be, by what is kept. */
  take(id: number): boolean {
    if (!Number.isSafeInteger(id) || id <= 0) throw new ProtocolError('a request needs an id')
    if (id <= this.#lastId || this.#isWindingUp) return false
    this.#lastId = id
    this.#count += 1
    this.#parts.asked.value += 1
    if (this.#count <= OPEN_REQUESTS_MAX) return true
    const message = `more than ${OPEN_REQUESTS_MAX} requests of one session are open`
    this.#parts.onTooMany(id, createError('LOCK_LIMIT', message))
    return false
  }

  /** One is about to be answered. */
  closeOne(): void {
    this.#count -= 1
    this.look()
  }

  /** To be called when one more waits. */
  look(): void {
    if (this.#onAnswered !== undefined && this.#isAnswered) this.#onAnswered()
  }

  /**
   * The server is about to stop: what arrives from now on is not begun. Resolves when everything that was
   * is answered, apart from those who wait.
   */
  async windUp(): Promise<void> {
    this.#isWindingUp = true
    if (this.#isAnswered) return
    await new Promise<void>((resolve) => {
      this.#onAnswered = resolve
    })
  }

  get #isAnswered(): boolean {
    return this.#count === this.#parts.countWaiting()
  }
}

/** Who is told that requests have taken up room, and how long they took. */
export interface EarlyRequestsParts {
  readonly ask: () => void
  readonly answered: () => void
  readonly nowMs: () => number
  readonly onWaited: (waitedMs: number) => void
}

interface Group {
  readonly durable: Promise<void>
  asked: number
  granted: number
}

/**
 * Requests that are decided and not durable yet. Each takes up room until it is answered, and all that
 * are waiting for the same write are answered at once.
 */
export class EarlyRequests {
  readonly #parts: EarlyRequestsParts
  #latest: Group | undefined

  constructor(parts: EarlyRequestsParts) {
    this.#parts = parts
  }

  /** With `isGranted`, it was ready to wait and was granted. */
  note(durable: Promise<void>, isGranted: boolean): void {
    this.#parts.ask()
    const group = this.#latest?.durable === durable ? this.#latest : this.#begin(durable)
    group.asked += 1
    if (isGranted) group.granted += 1
  }

  #begin(durable: Promise<void>): Group {
    const { answered, nowMs, onWaited } = this.#parts
    const group: Group = { durable, asked: 0, granted: 0 }
    const sinceMs = nowMs()
    const giveBack = (): void => {
      for (let left = group.asked; left > 0; left -= 1) answered()
    }
    durable.then(() => {
      const waitedMs = nowMs() - sinceMs
      for (let left = group.granted; left > 0; left -= 1) onWaited(waitedMs)
      giveBack()
    }, giveBack)
    this.#latest = group
    return group
  }
}

/** Who is told that requests take up room. */
export interface EarlyRequestsParts {
  readonly ask: () => void
  readonly answered: () => void
}

interface Group {
  readonly durable: Promise<void>
  asked: number
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

  note(durable: Promise<void>): void {
    this.#parts.ask()
    const group = this.#latest?.durable === durable ? this.#latest : this.#begin(durable)
    group.asked += 1
  }

  #begin(durable: Promise<void>): Group {
    const group: Group = { durable, asked: 0 }
    const giveBack = (): void => {
      for (let left = group.asked; left > 0; left -= 1) this.#parts.answered()
    }
    durable.then(giveBack, giveBack)
    this.#latest = group
    return group
  }
}

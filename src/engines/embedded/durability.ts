import type { Journal } from './journal/journal.ts'

interface Waiting {
  readonly run: () => void
  readonly fail: (error: unknown) => void
}

/** Everyone whose answer depends on one batch of the journal. */
interface Group {
  readonly batch: Promise<void>
  readonly waiting: Waiting[]
  /** Resolves after everyone in the group was told; rejects with the error for callers of the engine. */
  readonly durable: Promise<void>
}

/**
 * Who may be answered when. An answer waits for every record that was appended before it, its own or not:
 * what it says may rest on them, and a crash could still take them back. There is one promise per batch,
 * not per answer. Without a journal everyone is answered at once.
 */
export class Durability {
  readonly #journal: Journal | undefined
  readonly #onFailed: (error: unknown) => void
  #last: Group | undefined

  constructor(journal: Journal | undefined, onFailed: (error: unknown) => void) {
    this.#journal = journal
    this.#onFailed = onFailed
  }

  get isSettled(): boolean {
    return this.#last === undefined
  }

  append(record: Uint8Array): void {
    const batch = this.#journal?.append(record)
    if (batch === undefined || batch === this.#last?.batch) return
    const waiting: Waiting[] = []
    const durable = batch.then(
      () => this.#settle(batch, waiting),
      (error: unknown) => this.#fail(waiting, error),
    )
    durable.catch(() => {})
    this.#last = { batch, waiting, durable }
  }

  /** Run when all that was appended so far is durable; at once when it is. */
  after(run: () => void, fail: (error: unknown) => void): void {
    if (this.#last === undefined) run()
    else this.#last.waiting.push({ run, fail })
  }

  /** When all that was appended so far is durable, one promise for everyone; undefined when it is. */
  get durable(): Promise<void> | undefined {
    return this.#last?.durable
  }

  #settle(batch: Promise<void>, waiting: readonly Waiting[]): void {
    if (this.#last?.batch === batch) this.#last = undefined
    for (const { run } of waiting) run()
  }

  #fail(waiting: readonly Waiting[], error: unknown): never {
    for (const { fail } of waiting) fail(error)
    this.#onFailed(error)
    throw error
  }

  close(): Promise<void> {
    return this.#journal?.close() ?? Promise.resolve()
  }
}

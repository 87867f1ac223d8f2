import { toStorageError } from './storage-errors.ts'
import type { Journal } from './journal/journal.ts'

interface Waiting {
  readonly run: () => void
  readonly fail: (error: unknown) => void
}

/** Everyone whose answer depends on one batch of the journal. */
interface Group {
  readonly batch: Promise<void>
  readonly waiting: Waiting[]
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
    const group: Group = { batch, waiting: [] }
    this.#last = group
    batch.then(
      () => this.#settle(group),
      (error: unknown) => this.#fail(group, error),
    )
  }

  /** Run when all that was appended so far is durable; at once when it is. */
  after(run: () => void, fail: (error: unknown) => void): void {
    if (this.#last === undefined) run()
    else this.#last.waiting.push({ run, fail })
  }

  /** An answer, once all that was appended so far is durable: a promise on the batch and nothing else. */
  hold<Answer>(answer: Answer): Promise<Answer> {
    if (this.#last === undefined) return Promise.resolve(answer)
    return this.#last.batch.then(() => answer, rethrow)
  }

  #settle(group: Group): void {
    if (this.#last === group) this.#last = undefined
    for (const { run } of group.waiting) run()
  }

  #fail(group: Group, error: unknown): void {
    for (const { fail } of group.waiting) fail(error)
    this.#onFailed(error)
  }

  close(): Promise<void> {
    return this.#journal?.close() ?? Promise.resolve()
  }
}

function rethrow(error: unknown): never {
  throw toStorageError(error)
}

import type { Patience } from './patience.ts'

/** A request that stays open until the engine settles it, and what is known of it so far. */
export class OpenWait<Answer> {
  readonly requestId: string
  readonly #answer: Promise<Answer>
  readonly #patience: Patience
  #isOpen = true

  constructor(requestId: string, answer: Promise<Answer>, patience: Patience) {
    this.requestId = requestId
    this.#answer = answer
    this.#patience = patience
    const settle = (): void => {
      this.#isOpen = false
    }
    // A test that failed does not look at the answer any more; that must not fail the process too.
    answer.then(settle, settle)
  }

  /** Whether no answer has come yet. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** The answer, which must be on its way. Rejects as the request does. */
  answer(): Promise<Answer> {
    return this.#patience.answer(this.#answer, `the answer to ${this.requestId}`)
  }
}

import { createError } from '../../engine/errors/errors.ts'
import type { Outcome } from '../../law/model/outcomes.ts'
import type { AskOptions } from './held-requests.ts'
import { withdraw } from './withdraw.ts'

export interface HeldCallParts {
  readonly setTimer: (onOver: () => void) => { cancel(): void }
  /** Told once, when the call needs no keeping any more. */
  readonly onOver: () => void
}

/** One request whose answer has not left this process, and the connection that waits for it. */
export class HeldCall {
  readonly #options: AskOptions
  readonly #parts: HeldCallParts
  #dismiss: (error: Error) => void = () => {}
  #grace: { cancel(): void } | undefined
  #isOver = false

  constructor(options: AskOptions, parts: HeldCallParts) {
    this.#options = options
    this.#parts = parts
  }

  /** The engine's answer, or that the server stops before there is one. */
  waitFor(answer: Promise<Outcome>): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#dismiss = reject
      answer.then(resolve, reject)
    })
  }

  /** The answer has left this process. */
  delivered(): void {
    this.#end()
  }

  /** The connection broke before the answer was delivered. */
  broken(): void {
    if (this.#isOver) return
    if (this.#options.isNamed) {
      this.#grace ??= this.#parts.setTimer(() => this.#giveUp())
    } else this.#giveUp()
  }

  /** The client was heard of, although its connection is broken. */
  touch(): void {
    if (this.#grace === undefined || this.#isOver) return
    this.#grace.cancel()
    this.#grace = this.#parts.setTimer(() => this.#giveUp())
  }

  /** A newer connection asked for the same request. */
  supersede(): void {
    this.#end()
  }

  /** The server stops: the client is told to come back, and keeps what it has in the engine. */
  dismiss(): void {
    this.#end()
    this.#dismiss(createError('LOCK_ENGINE_CLOSED', 'the server stops; ask again'))
  }

  #giveUp(): void {
    this.#end()
    const { engine, command } = this.#options
    void withdraw(engine, command, 'abandoned')
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#grace?.cancel()
    this.#parts.onOver()
  }
}

import type { EarlyOutcome } from '../../engine/early-outcome.ts'
import type { Command } from '../../law/commands.ts'
import type { Outcome } from '../../law/outcomes.ts'

export interface EarlyAnswer {
  readonly id: number
  readonly command: Command
  readonly outcome: Outcome
}

export interface EarlyAnswersOptions {
  /** It is durable. */
  readonly onDurable: (answer: EarlyAnswer) => void
  /** It never will be. */
  readonly onFailed: (answer: EarlyAnswer, error: unknown) => void
}

/** The answers of a session that are decided and not durable yet. They go out in their order. */
export class EarlyAnswers {
  readonly #options: EarlyAnswersOptions
  #durable: Promise<void> | undefined
  /** All that wait for the same write. */
  #group: EarlyAnswer[] = []

  constructor(options: EarlyAnswersOptions) {
    this.#options = options
  }

  add(id: number, command: Command, { outcome, durable }: EarlyOutcome<Outcome>): void {
    if (durable !== this.#durable) this.#begin(durable)
    this.#group.push({ id, command, outcome })
  }

  #begin(durable: Promise<void>): void {
    const group: EarlyAnswer[] = []
    this.#durable = durable
    this.#group = group
    const { onDurable, onFailed } = this.#options
    durable.then(
      () => {
        for (const answer of group) onDurable(answer)
      },
      (error: unknown) => {
        for (const answer of group) onFailed(answer, error)
      },
    )
  }
}

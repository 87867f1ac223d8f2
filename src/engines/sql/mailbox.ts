import { type Letter, readLetters, removeLetters } from './letters.ts'
import type { Transactor } from './transactor.ts'

export interface MailboxOptions {
  readonly transactor: Transactor
  readonly process: string
  /** Acts on a letter. What it could not do is tried again. */
  readonly receive: (letter: Letter) => Promise<void>
}

/** The letters to this process. One reading at a time. */
export class Mailbox {
  readonly #options: MailboxOptions
  /** Those that could not be removed: their receivers were told, and may have left since. */
  readonly #opened = new Set<number>()

  constructor(options: MailboxOptions) {
    this.#options = options
  }

  async open(): Promise<void> {
    const { transactor, process, receive } = this.#options
    const letters = await transactor.run((db) => readLetters(db, process))
    const opening = [...letters].map(async ([id, letter]) => {
      if (this.#opened.has(id)) return
      await receive(letter)
      this.#opened.add(id)
    })
    // The next reading begins when nothing of this one is under way.
    await Promise.allSettled(opening)
    await Promise.all(opening)
    await transactor.run((db) => removeLetters(db, [...letters.keys()]))
    this.#opened.clear()
  }
}

import { type Notification, readLetters, removeLetters } from './notifications.ts'
import type { Transactor } from '../commit/transactor.ts'

export interface MailboxOptions {
  readonly transactor: Transactor
  readonly process: string
  /** Acts on a notification. What it could not do is tried again. */
  readonly receive: (notification: Notification) => Promise<void>
}

/** The notifications to this process. One reading at a time. */
export class NotificationInbox {
  readonly #options: MailboxOptions
  /** Those that could not be removed: their receivers were told, and may have left since. */
  readonly #opened = new Set<number>()

  constructor(options: MailboxOptions) {
    this.#options = options
  }

  async open(): Promise<void> {
    const { transactor, process, receive } = this.#options
    const notifications = await transactor.run((db) => readLetters(db, process))
    const opening = [...notifications].map(async ([id, notification]) => {
      if (this.#opened.has(id)) return
      await receive(notification)
      this.#opened.add(id)
    })
    // The next reading begins when nothing of this one is under way.
    await Promise.allSettled(opening)
    await Promise.all(opening)
    await transactor.run((db) => removeLetters(db, [...notifications.keys()]))
    this.#opened.clear()
  }
}

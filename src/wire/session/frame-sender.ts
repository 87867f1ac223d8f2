import { writeMessage } from './message-codec.ts'
import { PackWriter } from './pack-writer.ts'
import { FRAME_BYTES } from './session-limits.ts'
import type { SessionMessage } from './session-message.ts'

/** Cheaper than `queueMicrotask`, which makes a resource for those who trace such calls. */
const TURN: Promise<void> = Promise.resolve()

/**
 * Puts messages into frames. Everything that is written in one turn of the event loop leaves as one frame at
 * its end, when every promise continuation has run: what they write belongs to the same frame.
 */
export class FrameSender {
  readonly #send: (frame: Buffer) => void
  readonly #messagesMax: number
  readonly #writer = new PackWriter()
  readonly #flush = (): void => {
    this.#isScheduled = false
    this.flush()
  }
  readonly #flushAfterTurn = (): void => process.nextTick(this.#flush)
  #isScheduled = false
  #messages = 0

  /** A frame with so many messages is sent without waiting for the end of the turn. */
  constructor(messagesMax: number, send: (frame: Buffer) => void) {
    this.#messagesMax = messagesMax
    this.#send = send
  }

  /** The session that messages name by an empty text. */
  set ownSession(session: string) {
    this.#writer.ownSession = session
  }

  /** Throws where a message has something that is no plain data; nothing of it is sent then. */
  write(number: number, message: SessionMessage): void {
    if (this.#messages >= this.#messagesMax || this.#writer.length > FRAME_BYTES) this.flush()
    const { length } = this.#writer
    try {
      writeMessage(this.#writer, number, message)
    } catch (error) {
      this.#writer.rewind(length)
      throw error
    }
    this.#messages += 1
    if (this.#isScheduled) return
    this.#isScheduled = true
    void TURN.then(this.#flushAfterTurn)
  }

  /** Send what was written so far. */
  flush(): void {
    if (this.#messages === 0) return
    this.#messages = 0
    this.#send(this.#writer.take())
  }

  /** What was written and not sent will never be. */
  reset(): void {
    this.#messages = 0
    this.#writer.reset()
  }
}

import type { PackWriter } from '../../protocol/session/pack-writer.ts'
import { writeFailure, writeReply } from '../../protocol/session/server-frames.ts'
import { toFailure } from './failure.ts'
import type { Outbox } from './outbox.ts'

/** Writes answers of a session that are made of whatever the engine gave. */
export class AnswerWriter {
  readonly #outbox: Outbox
  readonly #onFailure: (error: unknown) => void

  constructor(outbox: Outbox, onFailure: (error: unknown) => void) {
    this.#outbox = outbox
    this.#onFailure = onFailure
  }

  reply(id: number, reply: Parameters<typeof writeReply>[2]): void {
    this.#write(id, (writer) => writeReply(writer, id, reply))
  }

  fail(id: number, error: unknown): void {
    this.#write(id, (writer) => writeFailure(writer, id, toFailure(error)))
  }

  /** What cannot be written is our failure, and must not take the rest of the frame with it. */
  #write(id: number, write: (writer: PackWriter) => void): void {
    const writer = this.#outbox.open()
    const { length } = writer
    try {
      write(writer)
    } catch (error) {
      this.#onFailure(error)
      writer.rewind(length)
      writeFailure(writer, id, toFailure(error))
    }
  }
}

import type { IncomingMessage } from 'node:http'
import { type SseMessage, SseReader } from '../wire/sse/sse-reader.ts'
import type { Clock, Timer } from '../time/clock.ts'

export interface EventReaderOptions {
  readonly clock: Clock
  /** Without a line for this long, the connection is taken for dead. */
  readonly silenceMs: number
  readonly onMessage: (message: SseMessage) => void
  /** Told of everything that is received, comments included. */
  readonly onSign: () => void
}

/** Reads Server-Sent Events until their stream is over, or silent for too long. */
export class EventReader {
  readonly #response: IncomingMessage
  readonly #options: EventReaderOptions
  readonly #reader: SseReader
  #silence: Timer | undefined

  constructor(response: IncomingMessage, options: EventReaderOptions) {
    this.#response = response
    this.#options = options
    this.#reader = new SseReader(options.onMessage)
  }

  /** Resolves when the stream is over, however that came. */
  async read(): Promise<void> {
    const response = this.#response
    response.setEncoding('utf8')
    this.#listenForSilence()
    await new Promise<void>((resolve) => {
      response.on('data', (text: string) => this.#take(text))
      response.on('error', () => resolve())
      response.on('close', resolve)
    })
    this.#silence?.cancel()
    this.#silence = undefined
  }

  #listenForSilence(): void {
    const { clock, silenceMs } = this.#options
    this.#silence?.cancel()
    const timer = clock.setTimer(silenceMs, () => {
      // After a block of this process, what has arrived in the meantime is read first.
      setImmediate(() => {
        if (this.#silence === timer) this.#response.destroy()
      })
    })
    this.#silence = timer
  }

  #take(text: string): void {
    this.#listenForSilence()
    this.#options.onSign()
    try {
      this.#reader.feed(text)
    } catch (error) {
      // What goes on without a line break is no stream of ours.
      this.#response.destroy(error as Error)
    }
  }
}

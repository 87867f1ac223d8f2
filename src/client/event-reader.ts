import type { IncomingMessage } from 'node:http'
import type { Clock, Timer } from '../time/clock.ts'

export interface EventReaderOptions {
  readonly clock: Clock
  /** Without a line for this long, the connection is taken for dead. */
  readonly silenceMs: number
  /** Told of every event that has data, with the id that was last seen. */
  readonly onEvent: (data: string, id: string | undefined) => void
  /** Told of everything that is received, comments included. */
  readonly onSign: () => void
}

/** Reads Server-Sent Events until their stream is over, or silent for too long. */
export class EventReader {
  readonly #response: IncomingMessage
  readonly #options: EventReaderOptions
  #rest = ''
  #data: string[] = []
  #id: string | undefined
  #silence: Timer | undefined

  constructor(response: IncomingMessage, options: EventReaderOptions) {
    this.#response = response
    this.#options = options
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
    const lines = (this.#rest + text).split(/\r\n|\n|\r/)
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#takeLine(line)
  }

  #takeLine(line: string): void {
    if (line === '') {
      if (this.#data.length > 0) this.#options.onEvent(this.#data.join('\n'), this.#id)
      this.#data = []
      return
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'data') this.#data.push(value)
    if (field === 'id') this.#id = value
  }
}

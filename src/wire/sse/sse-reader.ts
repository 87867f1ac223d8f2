/** One block of a stream of Server-Sent Events. A comment is none. */
export interface SseMessage {
  /** The latest id that the stream has named, in this block or before. */
  readonly id: string | undefined
  /** `message` where the block names no other. */
  readonly event: string
  /** `undefined` for a block that only says where the stream stands. */
  readonly data: string | undefined
}

/** Nothing that we send comes near; a stream that goes on without a line break is not one of ours. */
const LINE_CHARS_MAX = 1024 * 1024

/** Reads Server-Sent Events from text that arrives in pieces. */
export class SseReader {
  readonly #onMessage: (message: SseMessage) => void
  #rest = ''
  #id: string | undefined
  #event = ''
  #data: string[] = []
  #hasFields = false

  constructor(onMessage: (message: SseMessage) => void) {
    this.#onMessage = onMessage
  }

  /** Throws where a line has no end. */
  feed(text: string): void {
    this.#rest += text
    for (;;) {
      const end = /\r\n|\n|\r(?!$)/.exec(this.#rest)
      if (end === null) break
      const line = this.#rest.slice(0, end.index)
      this.#rest = this.#rest.slice(end.index + end[0].length)
      this.#take(line)
    }
    if (this.#rest.length > LINE_CHARS_MAX) throw new Error('a line of the stream has no end')
  }

  #take(line: string): void {
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'id') this.#id = value
    else if (field === 'event') this.#event = value
    else if (field === 'data') this.#data.push(value)
    else return
    this.#hasFields = true
  }

  #dispatch(): void {
    if (!this.#hasFields) return
    const data = this.#data.length === 0 ? undefined : this.#data.join('\n')
    const message = { id: this.#id, event: this.#event === '' ? 'message' : this.#event, data }
    this.#event = ''
    this.#data = []
    this.#hasFields = false
    this.#onMessage(message)
  }
}

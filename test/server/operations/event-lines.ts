import { type IncomingMessage, request } from 'node:http'
import { assertEventDescribed } from '../openapi/described-answers.ts'

/** The lines of a stream, as they come. */
export class EventLines {
  /** Every line so far, without its end. */
  readonly lines: string[] = []
  readonly #path: string
  readonly #response: IncomingMessage
  readonly #waiting = new Set<() => void>()
  #rest = ''
  #isOver = false

  private constructor(path: string, response: IncomingMessage) {
    this.#path = path
    this.#response = response
    response.setEncoding('utf8')
    response.on('data', (text: string) => this.#take(text))
    response.on('error', () => {})
    response.on('close', () => {
      this.#isOver = true
      this.#wake()
    })
  }

  static open(url: string, headers: Record<string, string> = {}): Promise<EventLines> {
    return new Promise((resolve, reject) => {
      const asking = request(url, { agent: false, headers })
      asking.on('error', reject)
      asking.on('response', (response) => {
        if (response.statusCode === 200) resolve(new EventLines(new URL(url).pathname, response))
        else reject(new Error(`no stream but ${response.statusCode}`))
      })
      asking.end()
    })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get contentType(): string | undefined {
    return this.#response.headers['content-type']
  }

  /** The objects of the `data:` lines so far. */
  get events(): readonly Record<string, unknown>[] {
    return this.lines
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice('data: '.length)))
  }

  get comments(): readonly string[] {
    return this.lines.filter((line) => line.startsWith(':'))
  }

  /** Resolves with the events when there are this many. */
  async untilEvents(count: number): Promise<readonly Record<string, unknown>[]> {
    await this.until(() => this.events.length >= count)
    return this.events
  }

  /** Resolves when it is true of what has come so far; rejects when the stream is over before. */
  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) {
      if (this.#isOver) throw new Error(`the stream is over: ${this.lines.join(' | ')}`)
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  async untilOver(): Promise<void> {
    while (!this.#isOver) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  close(): void {
    this.#response.destroy()
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    this.lines.push(...lines)
    for (const line of lines.filter((one) => one.startsWith('data: '))) {
      assertEventDescribed(this.#path, JSON.parse(line.slice('data: '.length)))
    }
    this.#wake()
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}

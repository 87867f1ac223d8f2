import { EventLines } from './event-lines.ts'
import { type Answer, ask } from './plain-http.ts'
import type { VirtualClock } from '../../../src/testing/virtual-clock.ts'

/**
 * The two clients in the field, byte for byte as far as a server can tell: what they send, what they read
 * of an answer, and what they make of it.
 */
export interface SeedClientOptions {
  readonly url: string
  readonly node: string
  readonly clock: VirtualClock
  readonly type?: string
  readonly resource?: string
}

export interface SeedResult {
  readonly acquired: boolean
  /** It was told that somebody else has done it. */
  readonly completed: boolean
  readonly error: string
}

const GO_HEADERS = { 'user-agent': 'Go-http-client/1.1', 'accept-encoding': 'gzip' }
const RETRIED = /timeout|connection|network|EOF|refused/

abstract class SeedClient {
  protected readonly options: SeedClientOptions
  /** How often it has posted `/lock`. */
  asked = 0

  constructor(options: SeedClientOptions) {
    this.options = options
  }

  protected get body(): string {
    const { type = 'pull', resource = 'layer', node } = this.options
    return JSON.stringify({ type, resource_id: resource, node_id: node })
  }

  /** JSON is read from 200 and 403; every other answer is an error with the body in its text. */
  protected async postLock(): Promise<{ acquired: boolean; skip: boolean; error: string }> {
    this.asked += 1
    const answer = await this.post('/lock', this.body)
    if (answer.status !== 200 && answer.status !== 403) {
      throw new Error(`unexpected status ${answer.status}: ${answer.text}`)
    }
    const { acquired, skip, error } = answer.body
    return { acquired: acquired === true, skip: skip === true, error: String(error) }
  }

  async unlock(error = ''): Promise<boolean> {
    const { type = 'pull', resource = 'layer', node } = this.options
    const body = JSON.stringify({ type, resource_id: resource, node_id: node, error })
    return (await this.post('/unlock', body)).body['released'] === true
  }

  protected post(path: string, body: string): Promise<Answer> {
    const { url } = this.options
    return ask(url, { method: 'POST', path, body, headers: GO_HEADERS })
  }

  static isRetried(errorText: string): boolean {
    return RETRIED.test(errorText)
  }
}

/** Waits by SSE, without saying who it is. Ignores `skip`. */
export class SeedSseClient extends SeedClient {
  /** The streams that it has opened, the latest last. */
  readonly streams: EventLines[] = []
  #isStopped = false

  async lock(): Promise<SeedResult> {
    while (!this.#isStopped) {
      const { acquired, error } = await this.postLock()
      if (error !== '') return { acquired: false, completed: false, error }
      if (acquired) return { acquired: true, completed: false, error: '' }
      if (await this.#waitForSuccess()) return { acquired: false, completed: true, error: '' }
    }
    return { acquired: false, completed: false, error: 'stopped' }
  }

  stop(): void {
    this.#isStopped = true
    for (const stream of this.streams) stream.close()
  }

  /** Whether it heard of a success; if not, it heard something that makes it ask again. */
  async #waitForSuccess(): Promise<boolean> {
    const { url, clock, type = 'pull', resource = 'layer' } = this.options
    const search = new URLSearchParams({ type, resource_id: resource })
    const headers = { ...GO_HEADERS, accept: 'text/event-stream' }
    const stream = await EventLines.open(`${url}/lock/subscribe?${search}`, headers)
    this.streams.push(stream)
    const openedAtMs = clock.nowMs()
    let read = 0
    for (;;) {
      await Promise.race([stream.until(() => stream.lines.length > read), stream.untilOver()])
      if (stream.isOver) return false
      for (const line of stream.lines.slice(read)) {
        read += 1
        if (line.startsWith('data: ')) {
          stream.close()
          return JSON.parse(line.slice('data: '.length)).success === true
        }
        if (line !== '' && clock.nowMs() - openedAtMs > 1_000) {
          stream.close()
          return false
        }
      }
    }
  }
}

/** Posts `/lock/status` every half second. */
export class SeedPollingClient extends SeedClient {
  polled = 0

  /** Asks once; then `poll` as often as half seconds pass. */
  async lock(): Promise<SeedResult | 'waiting'> {
    const { acquired, skip, error } = await this.postLock()
    if (error !== '') return { acquired: false, completed: false, error }
    if (acquired || skip) return { acquired, completed: skip, error: '' }
    return 'waiting'
  }

  async poll(): Promise<SeedResult | 'waiting'> {
    this.polled += 1
    const { body } = await this.post('/lock/status', this.body)
    if (body['acquired'] === true) return { acquired: true, completed: false, error: '' }
    if (body['completed'] !== true) return 'waiting'
    if (body['success'] === true) return { acquired: false, completed: true, error: '' }
    return this.lock()
  }
}

import type { ClientRequest, IncomingMessage } from 'node:http'
import type { WatchEvent, WatchFilter, Watching, WatchListener } from '../../engine/engine.ts'
import { isLockError } from '../../engine/errors.ts'
import { readEvent } from '../../protocol/json/event-body.ts'
import { type SseMessage, SseReader } from '../../protocol/sse/sse-reader.ts'
import type { Clock, Timer } from '../../time/clock.ts'
import { backOffMs } from './back-off.ts'
import { readAnswer } from './http-attempt.ts'
import type { HttpLink } from './http-link.ts'
import { search, toError } from './http-requests.ts'
import { toClosed } from '../../engine/engine-errors.ts'
import { toTlsError, toUnreachable } from './remote-errors.ts'

export interface HttpWatchOptions {
  readonly link: HttpLink
  readonly clock: Clock
  readonly filter: WatchFilter
  readonly listener: WatchListener
  /** Numbers events in the order in which they arrive. */
  readonly nextId: () => number
  /** How long the first connection is tried for. Later ones are tried until the watch is closed. */
  readonly retryForMs: number
  readonly onClose: (watch: HttpWatch) => void
}

/** The server sends something at least every second or two. */
const SILENCE_MS = 10_000
const RETRY_MS_MAX = 1_000

/** A stream of events that goes on where it was when its connection breaks. */
export class HttpWatch implements Watching {
  readonly #options: HttpWatchOptions
  readonly #path: string
  #request: ClientRequest | undefined
  #lastId: string | undefined
  #silence: Timer | undefined
  #retry: Timer | undefined
  #failures = 0
  #isClosed = false
  #begin: ((error?: unknown) => void) | undefined

  constructor(options: HttpWatchOptions) {
    const { prefix, namespace: kind } = options.filter
    this.#options = options
    this.#path = `/v1/events${search({ prefix, kind })}`
  }

  /** Resolves when the server has said where its stream stands. */
  open(): Promise<void> {
    const startedAtMs = this.#options.clock.nowMs()
    return new Promise((resolve, reject) => {
      this.#begin = (error) => {
        if (error === undefined) {
          this.#begin = undefined
          resolve()
        } else if (this.#isFinal(error, startedAtMs)) {
          reject(error as Error)
          void this.close()
        }
      }
      this.#connect()
    })
  }

  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#isClosed = true
    this.#retry?.cancel()
    this.#silence?.cancel()
    this.#request?.destroy()
    this.#begin?.(toClosed())
    this.#options.onClose(this)
    return Promise.resolve()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Whether an opening that failed like this is not tried again. */
  #isFinal(error: unknown, startedAtMs: number): boolean {
    const { clock, retryForMs } = this.#options
    const isPassing = isLockError(error) && error.retryable
    return this.#isClosed || !isPassing || clock.nowMs() - startedAtMs >= retryForMs
  }

  #connect(): void {
    const lastId = this.#lastId
    const headers = lastId === undefined ? {} : { 'last-event-id': lastId }
    const request = this.#options.link.stream(this.#path, headers)
    this.#request = request
    // Those who only watch do not keep the process alive.
    if (this.#begin === undefined) request.on('socket', (socket) => socket.unref())
    let isOver = false
    const end = (error: unknown): void => {
      if (isOver) return
      isOver = true
      request.destroy()
      this.#onBroken(error)
    }
    request.on('error', (error) => end(toTlsError(error) ?? toUnreachable('no', error)))
    request.on('response', (response) => void this.#read(response).then(end, end))
    this.#heard()
  }

  async #read(response: IncomingMessage): Promise<unknown> {
    if (response.statusCode !== 200) throw toError({ kind: 'watch' }, await readAnswer(response))
    response.setEncoding('utf8')
    response.socket.unref()
    const reader = new SseReader((message) => this.#take(message))
    for await (const text of response as AsyncIterable<string>) {
      this.#heard()
      reader.feed(text)
    }
    return toUnreachable('no', new Error('the stream ended'))
  }

  #take({ id, data }: SseMessage): void {
    if (this.#isClosed) return
    this.#lastId = id
    this.#failures = 0
    // Only who knows where the stream stands can go on there after a broken connection.
    this.#begin?.()
    if (data === undefined) return
    this.#options.listener(readEvent(JSON.parse(data), this.#options.nextId()) as WatchEvent)
  }

  #heard(): void {
    this.#silence?.cancel()
    this.#silence = this.#options.clock.setTimer(SILENCE_MS, () =>
      this.#request?.destroy(new Error('nothing was heard')),
    )
  }

  #onBroken(error: unknown): void {
    this.#silence?.cancel()
    if (this.#isClosed) return
    this.#begin?.(error)
    if (this.#isClosed) return
    this.#failures += 1
    const delayMs = backOffMs(this.#failures, RETRY_MS_MAX)
    this.#retry = this.#options.clock.setTimer(delayMs, () => this.#connect())
    if (this.#begin !== undefined) this.#retry.ref()
  }
}

import { createError } from '../engine/errors/errors.ts'
import { isPassing } from './answer-errors.ts'
import { EventReader } from './event-reader.ts'
import type { HttpCaller } from './http-caller.ts'
import type { LockClientSettings } from './lock-client-options.ts'
import { pause } from './pause.ts'

export interface OperationStreamOptions {
  readonly http: HttpCaller
  readonly settings: LockClientSettings
  readonly type: string
  readonly resourceId: string
  /** A session of this one request: it ends with the stream, and takes what it held along. */
  readonly session: string
  /** Told that the stream is open, for the first time or again: what happened before was not told. */
  readonly onOpen: () => void
  /** Told that something happened: how things stand has to be asked. */
  readonly onNews: () => void
  /** Told that the server has not been heard for so long that it may have given up on us. */
  readonly onDoubt: () => void
}

/** The server sends a line every second or two; this many times that is too long. */
const SILENCE_MS = 3_500

/** How much of the grace may pass without a sign before we must not believe that we still hold. */
const GRACE_TRUSTED = 0.8

/** How much of the grace a pause between two streams may take at most. */
const GRACE_RESTED = 0.2

const GRACE_MS_DEFAULT = 5_000

/**
 * Keeps a stream open for one request, from before it is asked until after it is released. While it is
 * open the server knows that we live; when it breaks it is opened anew, as often as it takes.
 */
export class OperationStream {
  readonly #options: OperationStreamOptions
  readonly #end = new AbortController()
  readonly #opened: { resolve: () => void; reject: (error: Error) => void }
  /** Resolves when the stream is open for the first time; rejects when it could not be often enough. */
  readonly opened: Promise<void>
  readonly #running: Promise<void>
  #lastId: string | undefined
  #graceMs = GRACE_MS_DEFAULT
  #doubt: { cancel(): void } | undefined

  constructor(options: OperationStreamOptions) {
    this.#options = options
    const { promise, resolve, reject } = withResolvers()
    this.opened = promise
    this.#opened = { resolve, reject }
    this.#running = this.#run()
  }

  async close(): Promise<void> {
    this.#end.abort()
    this.#doubt?.cancel()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, retryMs, maxRetries } = this.#options.settings
    const { signal } = this.#end
    let failures = 0
    let hasOpened = false
    let openedAtMs = 0
    while (!signal.aborted) {
      try {
        await this.#readOnce(() => {
          hasOpened = true
          openedAtMs = clock.nowMs()
          failures = 0
        })
      } catch (error) {
        failures += 1
        // Before the first opening a caller waits for it; later the poll behind it does the asking.
        if (!isPassing(error) || failures > maxRetries) this.#opened.reject(error as Error)
      }
      // Who was heard must hear from us within the grace, however seldom we were told to try again.
      const restMs = hasOpened ? Math.min(retryMs, this.#graceMs * GRACE_RESTED) : retryMs
      // What lasted is opened anew at once; who closes every stream is not asked without a pause.
      const hasLasted = failures === 0 && clock.nowMs() - openedAtMs >= restMs
      if (!signal.aborted) await pause(clock, hasLasted ? 0 : restMs, [signal])
    }
    this.#opened.reject(createError('LOCK_ABORTED', 'the stream was closed'))
  }

  async #readOnce(onOpen: () => void): Promise<void> {
    const { http, settings, type, resourceId, session } = this.#options
    const query = { type, resource_id: resourceId, node_id: settings.nodeId, session }
    const headers: Record<string, string> = { accept: 'text/event-stream' }
    if (this.#lastId !== undefined) headers['last-event-id'] = this.#lastId
    const path = `/lock/subscribe?${new URLSearchParams(query).toString()}`
    const response = await http.stream(path, headers, this.#end.signal)
    this.#graceMs = Number(response.headers['session-grace-ms']) || GRACE_MS_DEFAULT
    onOpen()
    this.#opened.resolve()
    this.#onSign()
    this.#options.onOpen()
    await new EventReader(response, {
      clock: settings.clock,
      silenceMs: SILENCE_MS,
      onSign: () => this.#onSign(),
      onMessage: ({ id, data }) => {
        this.#lastId = id
        if (data !== undefined) this.#options.onNews()
      },
    }).read()
  }

  #onSign(): void {
    const { settings, onDoubt } = this.#options
    this.#doubt?.cancel()
    const timer = settings.clock.setTimer(this.#graceMs * GRACE_TRUSTED, () => {
      // After a block of this process, what has arrived in the meantime is read first.
      setImmediate(() => {
        if (this.#doubt === timer && !this.#end.signal.aborted) onDoubt()
      })
    })
    this.#doubt = timer
  }
}

function withResolvers(): {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
} {
  let resolve = (): void => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  // A caller that waits for it hears of the failure; without one, the stream may fail in silence.
  promise.catch(() => {})
  return { promise, resolve, reject }
}

import { randomUUID } from 'node:crypto'
import { createError, isLockError } from '../engine/errors/errors.ts'
import type { Timer } from '../time/clock.ts'
import { type Answer, toAnswerError } from './answer-errors.ts'
import { toAborted } from './http-caller.ts'
import type { LockClientSettings } from './lock-client-options.ts'
import type { LockResult } from './lock-result.ts'
import { OperationStream } from './operation-stream.ts'
import { pause } from './pause.ts'
import type { RetryingCaller } from './retrying-caller.ts'

/** What is asked for. */
export interface LockRequest {
  readonly type: string
  readonly resourceId: string
  readonly subtype?: string | undefined
  readonly version?: string | undefined
  readonly ttlMs?: number | undefined
}

export interface OperationRequestParts {
  readonly caller: RetryingCaller
  readonly settings: LockClientSettings
  readonly request: LockRequest
  readonly signal: AbortSignal | undefined
}

/** The slow poll behind the stream: if the stream fails, a grant is found within this time. */
const BACKSTOP_MS = 10_000

/** How a request ended without a refusal: it is asked anew, under another id. */
const ASKED_ANEW: ReadonlySet<unknown> = new Set(['ended', 'abandoned', 'disconnected'])

/** One request for a lock, from asking to the end of what it was granted. */
export class OperationRequest {
  readonly #parts: OperationRequestParts
  readonly #stream: OperationStream | undefined
  readonly #session: string = randomUUID()
  readonly #lost = new AbortController()
  readonly #stop = new AbortController()
  /** Aborts when no caller waits for this request any more. */
  readonly #signal: AbortSignal
  #id: string = randomUUID()
  #token: number | undefined
  #news = new AbortController()
  #verifying: Timer | undefined
  #isOver = false

  constructor(parts: OperationRequestParts) {
    this.#parts = parts
    const { caller, settings, request, signal } = parts
    this.#signal =
      signal === undefined ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal])
    if (settings.waitBy !== 'events') return
    this.#stream = new OperationStream({
      http: caller.http,
      settings,
      type: request.type,
      resourceId: request.resourceId,
      session: this.#session,
      onOpen: () => {
        this.#news.abort()
        if (this.#token !== undefined) void this.#verify()
      },
      onNews: () => this.#news.abort(),
      onDoubt: () => this.#lose('the server was not heard for too long'),
    })
  }

  /** The token of the grant, once there is one. */
  get token(): number | undefined {
    return this.#token
  }

  /** Asks, and waits until it is granted, skipped or refused. Rejects only when its signal aborts. */
  async settle(): Promise<LockResult> {
    try {
      await this.#opened()
      for (;;) {
        const result = await this.#ask()
        if (result !== undefined) return await this.#conclude(result)
        await this.#wait()
        if (this.#signal.aborted) throw toAborted(this.#signal)
      }
    } catch (error) {
      const isClosed = this.#isOver
      await this.end()
      if (isClosed) throw createError('LOCK_ENGINE_CLOSED', 'the client was closed')
      if (!isLockError(error) || error.code === 'LOCK_ABORTED') throw error
      return { acquired: false, skipped: false, error }
    }
  }

  /** Nothing is held or waited for under this request any more. */
  async end(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    this.#verifying?.cancel()
    this.#stop.abort()
    const { caller, settings, request } = this.#parts
    await this.#stream?.close()
    try {
      if (this.#stream !== undefined) {
        await caller.http.call({
          method: 'DELETE',
          path: `/v1/sessions/${this.#session}`,
          body: {},
        })
      } else if (this.#token === undefined) {
        const { type, resourceId: resource } = request
        const body = { type, resource, node: settings.nodeId }
        await caller.http.call({ method: 'POST', path: '/v1/withdraw', body })
      }
    } catch {
      // Out of reach: the server misses the session, or the place in the queue runs out.
    }
  }

  async #opened(): Promise<void> {
    if (this.#stream === undefined) return
    const aborted = new Promise<never>((_, reject) => {
      const onAbort = (): void => reject(toAborted(this.#signal))
      this.#signal.addEventListener('abort', onAbort, { once: true })
    })
    await Promise.race([this.#stream.opened, aborted])
  }

  async #conclude(result: LockResult): Promise<LockResult> {
    if (result.acquired) return result
    await this.end()
    return result
  }

  /** One asking; `undefined` while the answer is to wait. */
  async #ask(): Promise<LockResult | undefined> {
    const { caller } = this.#parts
    const signal = this.#signal
    this.#news = new AbortController()
    const answer = await caller.call({ method: 'POST', path: '/lock', body: this.#body(), signal })
    const { body } = answer
    if (body['acquired'] === true) return this.#take(Number(body['token']))
    if (body['skip'] === true) {
      return { acquired: false, skipped: true, error: null, value: body['value'] ?? undefined }
    }
    if (body['dissolved'] === true) {
      return { acquired: false, skipped: true, error: null, dissolved: true }
    }
    if (body['queued'] === true) return undefined
    return this.#refused(answer)
  }

  #body(): Record<string, unknown> {
    const { settings, request } = this.#parts
    return {
      type: request.type,
      resource_id: request.resourceId,
      node_id: settings.nodeId,
      request_id: this.#id,
      subtype: request.subtype,
      version: request.version,
      ttl_ms: request.ttlMs,
      session: this.#stream === undefined ? undefined : this.#session,
    }
  }

  #take(token: number): LockResult {
    this.#token = token
    if (this.#stream === undefined) return { acquired: true, skipped: false, error: null, token }
    this.#verifyLater()
    const { signal } = this.#lost
    return { acquired: true, skipped: false, error: null, token, signal }
  }

  async #refused(answer: Answer): Promise<LockResult | undefined> {
    const { settings } = this.#parts
    const code = answer.body['code']
    if (ASKED_ANEW.has(code)) {
      this.#id = randomUUID()
      return this.#ask()
    }
    // The session was lost while the server was away; it is there again with the stream.
    if (code === 'no_session' && this.#stream !== undefined) {
      this.#id = randomUUID()
      await pause(settings.clock, settings.retryMs, [this.#news.signal, this.#signal])
      return this.#ask()
    }
    return { acquired: false, skipped: false, error: toAnswerError(answer) }
  }

  /** Until something happened, or it is time to ask anyway. */
  async #wait(): Promise<void> {
    const { clock, pollMs } = this.#parts.settings
    const signal = this.#signal
    if (this.#stream !== undefined) {
      await pause(clock, BACKSTOP_MS, [this.#news.signal, signal])
      return
    }
    do await pause(clock, pollMs, [signal])
    while (!signal.aborted && (await this.#isStillWaiting()))
  }

  /** Polling keeps the place and claims a grant; anything but waiting is then asked about in full. */
  async #isStillWaiting(): Promise<boolean> {
    const { caller, settings, request } = this.#parts
    const signal = this.#signal
    const body = {
      type: request.type,
      resource_id: request.resourceId,
      node_id: settings.nodeId,
      version: request.version,
    }
    const answer = await caller.call({ method: 'POST', path: '/lock/status', body, signal })
    return answer.body['acquired'] === false && answer.body['completed'] === false
  }

  /** Asks now and then whether the lock is still ours, which renews its lease as well. */
  #verifyLater(): void {
    const { clock } = this.#parts.settings
    this.#verifying = clock.setTimer(BACKSTOP_MS, () => {
      this.#verifyLater()
      void this.#verify()
    })
  }

  /** Whether the lock is still ours only the server knows. */
  async #verify(): Promise<void> {
    const { caller } = this.#parts
    if (this.#isOver || this.#lost.signal.aborted) return
    try {
      const { body } = await caller.call({ method: 'POST', path: '/lock', body: this.#body() })
      if (this.#isOver || body['code'] === 'no_session') return
      if (body['acquired'] !== true || body['token'] !== this.#token) {
        this.#lose('the server ended it')
      }
    } catch {
      // Not reached: the next asking, or the doubt about the stream, decides.
    }
  }

  #lose(why: string): void {
    if (this.#token === undefined || this.#isOver) return
    this.#lost.abort(createError('LOCK_LOST', `the lock was lost: ${why}`))
  }
}

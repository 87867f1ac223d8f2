import { Agent, request as requestHttp, type OutgoingHttpHeaders } from 'node:http'
import type { ClientRequest, RequestOptions } from 'node:http'
import { Agent as TlsAgent, request as requestHttps } from 'node:https'
import type { SecureContextOptions } from 'node:tls'
import { createError, isLockError, type LockError } from '../../engine/errors.ts'
import type { Clock, Timer } from '../../time/clock.ts'
import { backOffMs } from './back-off.ts'
import { AttemptError, type HttpAnswer, HttpAttempt } from './http-attempt.ts'
import { toClosed } from '../../engine/engine-errors.ts'
import { toUnreachable } from './remote-errors.ts'

export interface HttpLinkOptions {
  readonly url: URL
  readonly token: string | undefined
  readonly tls?: SecureContextOptions | undefined
  readonly clock: Clock
  /** How long a call is tried again without any contact before it fails. */
  readonly retryForMs: number
}

/** One call, which may take several attempts. */
export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** Made anew for every attempt: what is left of a wait gets less. */
  readonly body?: (() => unknown) | undefined
  readonly headers?: OutgoingHttpHeaders | undefined
  /** Whether the answer may take as long as it takes. */
  readonly isWait?: boolean | undefined
  /** Called when the server has put the request into its order. */
  readonly onProcessing?: (() => void) | undefined
}

/** A call under way, so that it can be given up. */
export interface OpenCall {
  readonly answer: Promise<HttpAnswer>
  /** Whether an earlier answer may have got lost. */
  readonly applied: 'no' | 'maybe'
  /** No further attempt; the present one ends. The answer rejects with this error. */
  drop(error: Error): void
}

const ANSWER_MS_MAX = 10_000
/** A wait is asked for again after this much silence: the only way to notice that the server is gone. */
const WAIT_SILENCE_MS = 30_000
const BACK_OFF_MS_MAX = 500

/** Requests to one server, on connections that are kept, tried again until they are answered. */
export class HttpLink {
  readonly #options: HttpLinkOptions
  readonly #agent: Agent
  readonly #request: (options: RequestOptions) => ClientRequest
  readonly #target: RequestOptions
  readonly #basePath: string
  readonly #headers: OutgoingHttpHeaders
  readonly #open = new Set<LinkCall>()

  constructor(options: HttpLinkOptions) {
    const { url, token, tls } = options
    const isTls = url.protocol === 'https:'
    this.#options = options
    this.#agent = isTls ? new TlsAgent({ ...tls, keepAlive: true }) : new Agent({ keepAlive: true })
    this.#request = isTls ? requestHttps : requestHttp
    this.#target = { hostname: url.hostname.replace(/^\[|\]$/g, ''), port: url.port }
    this.#basePath = url.pathname.replace(/\/$/, '')
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  }

  call(call: HttpCall): OpenCall {
    const open = new LinkCall(call, this.#options, (text, heard) =>
      this.#attempt(call, text, heard),
    )
    this.#open.add(open)
    const forget = (): void => void this.#open.delete(open)
    open.answer.then(forget, forget)
    return open
  }

  /** A request whose answer goes on: one attempt, on a connection of its own. */
  stream(path: string, headers: OutgoingHttpHeaders): ClientRequest {
    const request = this.#request({
      ...this.#target,
      ...this.#options.tls,
      agent: false,
      path: this.#basePath + path,
      headers: { ...this.#headers, ...headers, accept: 'text/event-stream' },
    })
    return request.end()
  }

  /** Every call that is still open fails. */
  close(): void {
    for (const open of this.#open) open.drop(toClosed(open.applied))
    this.#agent.destroy()
  }

  #attempt(call: HttpCall, body: string | undefined, onProcessing: () => void): HttpAttempt {
    return new HttpAttempt({
      request: this.#request,
      target: this.#target,
      agent: this.#agent,
      tls: this.#options.tls,
      method: call.method,
      path: this.#basePath + call.path,
      headers: {
        ...this.#headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers,
      },
      body,
      clock: this.#options.clock,
      silenceMs: call.isWait === true ? WAIT_SILENCE_MS : ANSWER_MS_MAX,
      onProcessing,
    })
  }
}

/** Sends the call once; `heard` is called when the server has put it into its order. */
type MakeAttempt = (body: string | undefined, heard: () => void) => HttpAttempt

/** The attempts of one call. */
class LinkCall implements OpenCall {
  readonly answer: Promise<HttpAnswer>
  /** Whether the server may have done what the call asks for. */
  applied: 'no' | 'maybe' = 'no'
  readonly #call: HttpCall
  readonly #options: HttpLinkOptions
  readonly #attempt: MakeAttempt
  #present: HttpAttempt | undefined
  #pause: { readonly timer: Timer; readonly end: () => void } | undefined
  #dropped: Error | undefined
  #contactAtMs: number
  #failures = 0

  constructor(call: HttpCall, options: HttpLinkOptions, attempt: MakeAttempt) {
    this.#call = call
    this.#options = options
    this.#attempt = attempt
    this.#contactAtMs = options.clock.nowMs()
    this.answer = this.#run()
  }

  #heard(): void {
    this.#contactAtMs = this.#options.clock.nowMs()
    this.#failures = 0
    this.#call.onProcessing?.()
  }

  drop(error: Error): void {
    if (this.#dropped !== undefined) return
    this.#dropped = error
    this.#present?.destroy(error)
    this.#pause?.timer.cancel()
    this.#pause?.end()
  }

  async #run(): Promise<HttpAnswer> {
    for (;;) {
      this.#throwIfDropped()
      const failure = await this.#try()
      if (!(failure instanceof Error)) return failure
      this.#throwIfDropped()
      if (isLockError(failure.cause)) throw this.#refused(failure.cause)
      this.#failures += 1
      // A kept connection that the server has just closed says nothing about the server.
      const isStale = failure instanceof AttemptError && failure.isStale
      if (isStale && this.#failures === 1) continue
      const { clock, retryForMs } = this.#options
      if (clock.nowMs() - this.#contactAtMs >= retryForMs) {
        throw toUnreachable(this.applied, failure)
      }
      await this.#backOff()
    }
  }

  /** An earlier attempt may have arrived all the same. */
  #refused({ code, message, cause }: LockError): LockError {
    return createError(code, message, { applied: this.applied, cause })
  }

  #throwIfDropped(): void {
    if (this.#dropped !== undefined) throw this.#dropped
  }

  /** The answer, or why there is none yet. */
  async #try(): Promise<HttpAnswer | Error> {
    const { body } = this.#call
    const text = body === undefined ? undefined : JSON.stringify(body())
    this.#present = this.#attempt(text, () => this.#heard())
    try {
      const answer = await this.#present.answer
      const later = retryLater(answer)
      if (later?.applied === 'maybe') this.applied = 'maybe'
      return later?.error ?? answer
    } catch (error) {
      if (!(error instanceof AttemptError)) throw error
      if (error.mayHaveArrived && this.#call.method !== 'GET') this.applied = 'maybe'
      return error
    }
  }

  #backOff(): Promise<void> {
    const delayMs = backOffMs(this.#failures, BACK_OFF_MS_MAX)
    return new Promise((resolve) => {
      const timer = this.#options.clock.setTimer(delayMs, resolve)
      timer.ref()
      this.#pause = { timer, end: resolve }
    })
  }
}

/** An answer that says to come back later. */
function retryLater(
  answer: HttpAnswer,
): { readonly error: Error; readonly applied: unknown } | undefined {
  if (answer.status !== 503) return undefined
  const body = (answer.body ?? {}) as Record<string, unknown>
  if (body['retryable'] === false) return undefined
  const error = createError('LOCK_ENGINE_UNAVAILABLE', 'the lock server says to come back later')
  return { error, applied: body['applied'] }
}

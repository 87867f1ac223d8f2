import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { createError } from '../engine/errors/errors.ts'
import { describeTlsFailure, explainHangUp } from '../wire/tls-failure.ts'
import { type Answer, toAnswerError } from './answer-errors.ts'
import type { LockClientSettings } from './lock-client-options.ts'

export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

/** More than any answer of a lock server. */
const ANSWER_BYTES_MAX = 1024 * 1024

/**
 * The two ways to talk to a server: a short one, whose answers have to come in time, and a long one for
 * streams, which have to begin in time and go on for as long as they like. Each has its own connections,
 * so that no request waits behind a stream.
 */
export class HttpCaller {
  readonly #settings: LockClientSettings
  readonly #short: HttpAgent
  readonly #long: HttpAgent

  constructor(settings: LockClientSettings) {
    this.#settings = settings
    const { server, tls } = settings
    const Agent = server.protocol === 'https:' ? HttpsAgent : HttpAgent
    this.#short = new Agent({ ...tls, keepAlive: true })
    this.#long = new Agent({ ...tls, keepAlive: false })
  }

  /** Resolves with any answer of the server. Rejects if there is none in time. */
  call(call: Call): Promise<Answer> {
    return this.#inTime(call.signal, async (signal) => {
      return readAnswer(await this.#send(call, { agent: this.#short, signal }))
    })
  }

  /**
   * Resolves with the head of an answer that goes on. Rejects if there is none in time, and with what the
   * server says where it gives no stream.
   */
  async stream(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const call = { method: 'GET', path } as const
    const { response, refusal } = await this.#inTime(signal, async (either) => {
      const sent = await this.#send(call, { agent: this.#long, signal: either, headers })
      return { response: sent, refusal: sent.statusCode === 200 ? null : await readAnswer(sent) }
    })
    if (refusal !== null) throw toAnswerError(refusal)
    return response
  }

  close(): void {
    this.#short.destroy()
    this.#long.destroy()
  }

  /** What is asked with the signal ends with it: when it takes too long, or is not wanted any more. */
  async #inTime<Heard>(
    unwanted: AbortSignal | undefined,
    ask: (signal: AbortSignal) => Promise<Heard>,
  ): Promise<Heard> {
    const { clock, requestTimeoutMs } = this.#settings
    const late = new AbortController()
    const timer = clock.setTimer(requestTimeoutMs, () => late.abort())
    timer.ref()
    const signals = unwanted === undefined ? [late.signal] : [late.signal, unwanted]
    try {
      return await ask(AbortSignal.any(signals))
    } catch (error) {
      if (unwanted?.aborted) throw toAborted(unwanted)
      const why = late.signal.aborted ? `no answer within ${requestTimeoutMs} ms` : sayWhy(error)
      throw toUnreachable(why, error)
    } finally {
      timer.cancel()
    }
  }

  #send(
    { method, path, body }: Call,
    options: {
      readonly agent: HttpAgent
      readonly signal: AbortSignal
      readonly headers?: Readonly<Record<string, string>>
    },
  ): Promise<IncomingMessage> {
    const { server, token, tls } = this.#settings
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = {
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...options.headers,
    }
    const { agent, signal } = options
    const request = server.protocol === 'https:' ? httpsRequest : httpRequest
    return new Promise((resolve, reject) => {
      const sent: ClientRequest = request(new URL(path.slice(1), server), {
        method,
        agent,
        signal,
        headers,
      })
      sent.on('response', resolve)
      sent.on('error', (error) => {
        reject(sent.reusedSocket ? error : explainHangUp(error, tls))
      })
      sent.end(text)
    })
  }
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const text = await readText(response)
  return { status: response.statusCode ?? 0, body: parseBody(text) }
}

function readText(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (piece: string) => {
      text += piece
      if (text.length > ANSWER_BYTES_MAX) response.destroy(new Error('the answer is too long'))
    })
    response.on('end', () => resolve(text))
    response.on('error', reject)
    response.on('close', () => reject(new Error('the answer was cut off')))
  })
}

/** What is no JSON object comes from something that is no lock server, such as a proxy on the way. */
function parseBody(text: string): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null) return body as Record<string, unknown>
  } catch {
    // Said below.
  }
  return { error: 'the answer is not that of a lock server' }
}

function sayWhy(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** What the system says where no connection was made: nothing was sent. */
const NOT_SENT: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'])

/** Where there was a connection the request may have arrived; sent again under the same id it takes effect once. */
function toUnreachable(why: string, cause: unknown): Error {
  const refusal = describeTlsFailure(cause)
  if (refusal !== undefined) return createError(refusal.code, refusal.message, { cause })
  const message = `the lock server cannot be reached: ${why}`
  const wasSent = !NOT_SENT.has((cause as NodeJS.ErrnoException).code)
  return createError('LOCK_ENGINE_UNAVAILABLE', message, {
    applied: wasSent ? 'maybe' : 'no',
    cause,
  })
}

export function toAborted(signal: AbortSignal): Error {
  return createError('LOCK_ABORTED', 'the call was aborted by its signal', { cause: signal.reason })
}

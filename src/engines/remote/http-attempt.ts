import { type Agent, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import type { ClientRequest, RequestOptions } from 'node:http'
import type { SecureContextOptions } from 'node:tls'
import type { Clock, Timer } from '../../time/clock.ts'
import { explainHangUp } from '../../protocol/tls-failure.ts'
import { toTlsError } from './remote-errors.ts'

/** Longer answers are taken for a defect of whoever sends them. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

export interface AttemptOptions {
  readonly request: (options: RequestOptions) => ClientRequest
  readonly target: RequestOptions
  readonly agent: Agent
  /** What the agent shows and trusts. */
  readonly tls: SecureContextOptions | undefined
  readonly method: string
  readonly path: string
  readonly headers: OutgoingHttpHeaders
  readonly body: string | undefined
  readonly clock: Clock
  /** How long nothing may be heard before the connection is given up. */
  readonly silenceMs: number
  /** Called when the server says that the request stands in its order. */
  readonly onProcessing: () => void
}

export interface HttpAnswer {
  readonly status: number
  /** Parsed JSON; `undefined` where it is none. */
  readonly body: unknown
}

/** An attempt that brought no answer. */
export class AttemptError extends Error {
  /** Whether the request may have arrived. */
  readonly mayHaveArrived: boolean
  /** Whether it was sent on a connection that the server may have been about to close. */
  readonly isStale: boolean

  constructor(cause: unknown, facts: { mayHaveArrived: boolean; isStale: boolean }) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.mayHaveArrived = facts.mayHaveArrived
    this.isStale = facts.isStale
  }
}

/** One request on one connection, from its first byte to its answer's last. */
export class HttpAttempt {
  /** Rejects with an `AttemptError`. */
  readonly answer: Promise<HttpAnswer>
  readonly #options: AttemptOptions
  readonly #request: ClientRequest
  #silence: Timer | undefined
  #isConnected = false

  constructor(options: AttemptOptions) {
    this.#options = options
    const { request, target, agent, method, path, headers, body } = options
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    this.#request = request({
      ...target,
      agent,
      method,
      path,
      headers: { ...headers, ...length },
    })
    this.answer = new Promise((resolve, reject) => this.#listen(resolve, reject))
    this.#request.end(body)
  }

  /** Gives up; the answer rejects. */
  destroy(error: Error): void {
    this.#request.destroy(error)
  }

  #listen(resolve: (answer: HttpAnswer) => void, reject: (error: Error) => void): void {
    const request = this.#request
    const fail = (cause: unknown): void => {
      this.#silence?.cancel()
      const isStale = request.reusedSocket
      const refusal = toTlsError(cause)
      const mayHaveArrived = refusal === undefined && (this.#isConnected || isStale)
      reject(new AttemptError(refusal ?? cause, { mayHaveArrived, isStale }))
    }
    request.on('socket', (socket) => {
      if (!socket.connecting) this.#isConnected = true
      else socket.once('connect', () => (this.#isConnected = true))
    })
    request.on('error', (error) => {
      fail(request.reusedSocket ? error : explainHangUp(error, this.#options.tls))
    })
    request.on('information', ({ statusCode }) => {
      this.#heard()
      if (statusCode === 102) this.#options.onProcessing()
    })
    request.on('response', (response) => {
      this.#heard()
      void readAnswer(response).then((answer) => {
        this.#silence?.cancel()
        resolve(answer)
      }, fail)
    })
    this.#heard()
  }

  #heard(): void {
    const { clock, silenceMs } = this.#options
    this.#silence?.cancel()
    this.#silence = clock.setTimer(silenceMs, () => this.destroy(new Error('nothing was heard')))
  }
}

/** All of an answer. Rejects if it is cut off, or too long. */
export async function readAnswer(response: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) throw new Error('the answer is too long')
    chunks.push(chunk)
  }
  if (!response.complete) throw new Error('the answer was cut off')
  return { status: response.statusCode ?? 0, body: parse(Buffer.concat(chunks).toString('utf8')) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

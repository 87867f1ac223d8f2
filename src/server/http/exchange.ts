import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LockEngine, WatchEvent } from '../../engine/engine.ts'
import type { Principal } from '../access/principal.ts'
import type { ServerContext } from '../server-context.ts'
import { badRequest } from './http-error.ts'

/** `undefined` for an event of which somebody may not hear. */
export type ShowEvent = (event: WatchEvent) => WatchEvent | undefined

export interface ExchangeParts {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly context: ServerContext
  readonly principal: Principal
  /** The engine as this principal may use it. */
  readonly engine: LockEngine
  /** An event as this principal may hear of it; as it is when absent. */
  readonly showEvent?: ShowEvent | undefined
  readonly parameters: Readonly<Record<string, string>>
  /** What follows the question mark. */
  readonly search: string
  readonly body: unknown
}

/** One request and its answer, as a route sees it. */
export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly context: ServerContext
  readonly principal: Principal
  readonly engine: LockEngine
  readonly showEvent: ShowEvent
  readonly parameters: Readonly<Record<string, string>>
  /** Parsed JSON, for the methods that have a body. */
  readonly body: unknown
  readonly #search: string
  #query: URLSearchParams | undefined

  constructor(parts: ExchangeParts) {
    this.request = parts.request
    this.response = parts.response
    this.context = parts.context
    this.principal = parts.principal
    this.engine = parts.engine
    this.showEvent = parts.showEvent ?? ((event) => event)
    this.parameters = parts.parameters
    this.body = parts.body
    this.#search = parts.search
  }

  get query(): URLSearchParams {
    this.#query ??= parseQuery(this.#search)
    return this.#query
  }

  /** A client that has gone is not answered. */
  get isGone(): boolean {
    return this.response.destroyed || this.response.socket?.destroyed === true
  }

  send(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void {
    if (this.isGone || this.response.headersSent) return
    sendJson(this.response, { status, body, headers })
  }

  /** An answer that is no JSON: its headers say what it is. */
  sendText(status: number, text: string, headers: Readonly<Record<string, string>>): void {
    if (this.isGone || this.response.headersSent) return
    this.response.writeHead(status, { 'content-length': Buffer.byteLength(text), ...headers })
    this.response.end(text)
  }
}

export interface JsonAnswer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Answers that mean "not now". */
const RETRY_LATER: ReadonlySet<number> = new Set([429, 503])

export function sendJson(response: ServerResponse, answer: JsonAnswer): void {
  const text = JSON.stringify(answer.body)
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...(RETRY_LATER.has(answer.status) ? { 'retry-after': '1' } : {}),
    ...answer.headers,
  })
  response.end(text)
}

/** Text that is not UTF-8 is refused and not repaired: two keys must not become one. */
function parseQuery(search: string): URLSearchParams {
  try {
    decodeURIComponent(search)
  } catch {
    throw badRequest('query', 'is not percent-encoded UTF-8')
  }
  return new URLSearchParams(search)
}

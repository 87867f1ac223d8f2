import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LockEngine } from '../../engine/engine.ts'
import type { Caller } from '../access/access.ts'
import type { Credential } from '../access/credential.ts'
import type { Principal } from '../access/principal.ts'
import type { PrincipalView } from '../access/principal-view.ts'
import type { ServerContext } from '../server-context.ts'
import { badRequest } from './http-error.ts'

export interface ExchangeParts {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly context: ServerContext
  readonly caller: Caller
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
  readonly credential: Credential
  readonly principal: Principal
  /** The engine as this principal may use it. */
  readonly engine: LockEngine
  readonly view: PrincipalView
  readonly parameters: Readonly<Record<string, string>>
  /** Parsed JSON, for the methods that have a body. */
  readonly body: unknown
  readonly #search: string
  #query: URLSearchParams | undefined

  constructor(parts: ExchangeParts) {
    this.request = parts.request
    this.response = parts.response
    this.context = parts.context
    this.credential = parts.caller.credential
    this.principal = parts.caller.principal
    this.engine = parts.caller.engine
    this.view = parts.caller.view
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
    return this.response.destroyed || this.request.socket.destroyed
  }

  send(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void {
    this.#sendJsonText({ status, text: JSON.stringify(body), headers })
  }

  /** The same for a body that is JSON already; bytes that many answers share are kept in memory once. */
  sendJson(status: number, text: string | Buffer): void {
    this.#sendJsonText({ status, text })
  }

  /** An answer that is no JSON: its headers say what it is. */
  sendText(status: number, text: string, headers: Readonly<Record<string, string>>): void {
    if (this.isGone || this.response.headersSent) return
    this.response.writeHead(status, { 'content-length': Buffer.byteLength(text), ...headers })
    this.response.end(text)
    this.context.unsent.wrote(text.length)
  }

  #sendJsonText(answer: JsonTextAnswer): void {
    if (this.isGone || this.response.headersSent) return
    sendJsonText(this.response, answer)
    this.context.unsent.wrote(answer.text.length)
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
  const { status, body, headers } = answer
  sendJsonText(response, { status, text: JSON.stringify(body), headers })
}

interface JsonTextAnswer extends Omit<JsonAnswer, 'body'> {
  readonly text: string | Buffer
}

function sendJsonText(response: ServerResponse, answer: JsonTextAnswer): void {
  const { status, text } = answer
  const own = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
  const more = headersOf(answer)
  response.writeHead(status, more === undefined ? own : { ...own, ...more })
  response.end(text)
}

/** What an answer has of its own: one that means "not now" says when to ask again. */
export function headersOf({ status, headers }: Omit<JsonAnswer, 'body'>): JsonAnswer['headers'] {
  return RETRY_LATER.has(status) ? { 'retry-after': '1', ...headers } : headers
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

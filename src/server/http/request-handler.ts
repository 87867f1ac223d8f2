import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LockEngine } from '../../engine/engine.ts'
import type { Principal } from '../access/principal.ts'
import type { ServerContext } from '../server-context.ts'
import { toErrorAnswer } from './error-answer.ts'
import { Exchange, sendJson, type ShowEvent } from './exchange.ts'
import { HttpError } from './http-error.ts'
import { readJson } from './read-json.ts'
import type { Access } from './route.ts'
import type { RouteMatch, Router } from './router.ts'

export interface RequestHandlerParts {
  readonly router: Router
  readonly context: ServerContext
  /** Who sends this request; throws an `HttpError` if that is nobody who may. */
  readonly authenticate: (request: IncomingMessage, access: Access) => Principal
  /** The engine as a principal may use it. */
  readonly engineFor: (principal: Principal) => LockEngine
  /** What a principal hears of events; everything when absent. */
  readonly showEventFor?: ((principal: Principal) => ShowEvent) | undefined
  /** Told of an error that is ours and not the client's. */
  readonly onFailure: (error: unknown) => void
}

/** From a request to its route, and from whatever the route throws to an answer. */
export class RequestHandler {
  readonly #parts: RequestHandlerParts

  constructor(parts: RequestHandlerParts) {
    this.#parts = parts
  }

  /** Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? '/'
    const mark = url.indexOf('?')
    const path = mark === -1 ? url : url.slice(0, mark)
    const search = mark === -1 ? '' : url.slice(mark + 1)
    let found: ReturnType<Router['find']>
    try {
      found = this.#parts.router.find(request.method ?? '', path)
      await this.#route({ request, response, search, ...orThrow(found) })
    } catch (error) {
      this.#answerError(response, error)
    }
    const { metrics } = this.#parts.context
    metrics.answered(labelOf(found), response.headersSent ? String(response.statusCode) : 'gone')
  }

  async #route({ request, response, search, route, parameters }: Routed): Promise<void> {
    const { context, authenticate, engineFor, showEventFor } = this.#parts
    const principal = authenticate(request, route.access)
    const limit = context.limits[route.body ?? 'body']
    const body = route.method === 'GET' ? undefined : await readJson(request, limit)
    const exchange = new Exchange({
      request,
      response,
      context,
      principal,
      engine: engineFor(principal),
      showEvent: showEventFor?.(principal),
      parameters,
      search,
      body,
    })
    await route.handle(exchange)
  }

  #answerError(response: ServerResponse, error: unknown): void {
    const answer = toErrorAnswer(error)
    if (answer.status >= 500) this.#parts.onFailure(error)
    if (response.headersSent || response.destroyed) response.destroy()
    else sendJson(response, answer)
  }
}

interface Routed extends RouteMatch {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly search: string
}

/** A label that no client can choose: there are as many as there are routes. */
function labelOf(found: ReturnType<Router['find']>): string {
  if (found === undefined || !('route' in found)) return 'none'
  return `${found.route.method} ${found.route.path}`
}

function orThrow(found: ReturnType<Router['find']>): RouteMatch {
  if (found === undefined) {
    throw new HttpError(404, 'not_found', { message: 'there is nothing at this path' })
  }
  if ('route' in found) return found
  throw new HttpError(405, 'method_not_allowed', {
    message: `this path takes ${found.join(', ')}`,
    headers: { allow: found.join(', ') },
  })
}

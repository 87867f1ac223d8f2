import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../access/access.ts'
import { REVOKED, unauthorized } from '../access/authenticator.ts'
import { RequestLine } from '../observe/request-line.ts'
import type { ServerContext } from '../server-context.ts'
import { toErrorAnswer } from './error-answer.ts'
import { Exchange, sendJson } from './exchange.ts'
import { HttpError } from './http-error.ts'
import { readFields } from './fields.ts'
import { readJson } from './read-json.ts'
import type { Route } from './route.ts'
import type { RouteMatch, Router } from './router.ts'

export interface RequestHandlerParts {
  readonly router: Router
  readonly context: ServerContext
}

/**
 * From a request to its route, and from whatever the route throws to an answer. A request that can be
 * answered at once is: no promise is made on its way.
 */
export class RequestHandler {
  readonly #parts: RequestHandlerParts

  constructor(parts: RequestHandlerParts) {
    this.#parts = parts
  }

  /** Never throws. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    const { router, context } = this.#parts
    const url = request.url ?? '/'
    const mark = url.indexOf('?')
    const path = mark === -1 ? url : url.slice(0, mark)
    const search = mark === -1 ? '' : url.slice(mark + 1)
    const line = context.log.isDebug ? new RequestLine(request, response, context) : undefined
    let route: Route | undefined
    try {
      const match = find(router, request.method ?? '', path)
      ;({ route } = match)
      const caller = context.access.admit(request, route)
      if (line !== undefined) line.who = caller.principal.name
      this.#read({ request, response, search, caller, match })
    } catch (error) {
      this.#fail(route, response, error)
    }
  }

  #read(call: Call): void {
    const { request, response, match } = call
    const { route } = match
    if (route.method === 'GET') {
      this.#run(call, undefined)
      return
    }
    readJson(request, this.#parts.context.limits[route.bodyLimit ?? 'body'], (error, body) => {
      if (error === undefined) this.#run(call, body)
      else this.#fail(route, response, error)
    })
  }

  #run({ request, response, search, caller, match }: Call, body: unknown): void {
    const { context } = this.#parts
    const { route, parameters } = match
    try {
      // The body may have taken its time.
      if (caller.credential.isRevoked) throw unauthorized(REVOKED)
      const parts = { request, response, context, caller, parameters, search, body }
      const exchange = new Exchange(parts)
      const handled = route.handle(exchange, readFields(route.fields, exchange))
      if (handled === undefined) this.#count(route, response)
      else {
        handled.then(
          () => this.#count(route, response),
          (error: unknown) => this.#fail(route, response, error),
        )
      }
    } catch (error) {
      this.#fail(route, response, error)
    }
  }

  #fail(route: Route | undefined, response: ServerResponse, error: unknown): void {
    this.#parts.context.failures.report(error)
    if (response.headersSent || response.destroyed) response.destroy()
    else sendJson(response, toErrorAnswer(error, route?.fields))
    this.#count(route, response)
  }

  #count(route: Route | undefined, { headersSent, statusCode }: ServerResponse): void {
    this.#parts.context.metrics.answered(route, headersSent ? statusCode : 'gone')
  }
}

/** A request that may be made, before its body was read. */
interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly search: string
  readonly caller: Caller
  readonly match: RouteMatch
}

function find(router: Router, method: string, path: string): RouteMatch {
  const found = router.find(method, path)
  if (found === undefined) {
    const beginning = router.beginningOf(path)
    const hint =
      beginning === undefined
        ? ''
        : `; a name behind ${beginning} is percent-encoded: write a slash in it as %2F`
    throw new HttpError(404, 'not_found', { message: `there is nothing at this path${hint}` })
  }
  if ('route' in found) return found
  throw new HttpError(405, 'method_not_allowed', {
    message: `this path takes ${found.join(', ')}`,
    headers: { allow: found.join(', ') },
  })
}

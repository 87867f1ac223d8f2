import type { Query } from '../../engine/queries.ts'
import { writeReply } from '../../protocol/json/reply-body.ts'
import type { Exchange } from '../http/exchange.ts'
import { neededQueryText, queryNamespace, queryNumber, queryText } from '../http/query-reader.ts'
import type { Route } from '../http/route.ts'

/** What can be read of the state. */
export const READING_ROUTES: readonly Route[] = [
  readingRoute('/v1/locks', (exchange) => ({
    kind: 'list',
    prefix: queryText(exchange, 'prefix'),
    owner: queryText(exchange, 'owner'),
    namespace: queryNamespace(exchange),
    limit: queryNumber(exchange, 'limit'),
    cursor: queryText(exchange, 'cursor'),
  })),
  readingRoute('/v1/locks/{key}', (exchange) => ({
    kind: 'inspect',
    key: keyOf(exchange),
    namespace: queryNamespace(exchange),
    queueLimit: queryNumber(exchange, 'queue_limit'),
  })),
  readingRoute('/v1/locks/{key}/standing', (exchange) => ({
    kind: 'standing',
    key: keyOf(exchange),
    owner: neededQueryText(exchange, 'owner'),
    namespace: queryNamespace(exchange),
  })),
  readingRoute('/v1/references', (exchange) => ({
    kind: 'references',
    resource: neededQueryText(exchange, 'resource'),
  })),
  readingRoute('/v1/stats', () => ({ kind: 'stats' })),
  readingRoute('/v1/history', (exchange) => ({
    kind: 'history',
    key: queryText(exchange, 'key'),
    namespace: queryNamespace(exchange),
    limit: queryNumber(exchange, 'limit'),
  })),
]

function readingRoute(path: string, toQuery: (exchange: Exchange) => Query): Route {
  return { method: 'GET', path, access: 'client', handle: answer }
  async function answer(exchange: Exchange): Promise<void> {
    const query = toQuery(exchange)
    const reply = await exchange.engine.read(query)
    exchange.send(200, writeReply(query, reply, exchange.context.clock.wallMs()))
  }
}

function keyOf({ parameters }: Exchange): string {
  return parameters['key'] ?? ''
}

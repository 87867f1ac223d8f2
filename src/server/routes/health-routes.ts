import { OPENAPI } from '../openapi/document.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Route } from '../http/route.ts'

/** For those who watch over servers: load balancers, schedulers, Prometheus. */
export const HEALTH_ROUTES: readonly Route[] = [
  { method: 'GET', path: '/healthz', access: 'open', handle: sayAlive },
  { method: 'GET', path: '/readyz', access: 'open', handle: sayReady },
  { method: 'GET', path: '/metrics', access: 'client', handle: showMetrics },
  { method: 'GET', path: '/openapi.json', access: 'open', handle: showDescription },
]

function sayAlive(exchange: Exchange): void {
  exchange.send(200, { status: 'alive' })
}

/** Whether the engine answers; what it throws is the 503 that every route gives. */
async function sayReady(exchange: Exchange): Promise<void> {
  await exchange.context.engine.read({ kind: 'inspect', key: 'readyz' })
  exchange.send(200, { status: 'ready' })
}

async function showMetrics(exchange: Exchange): Promise<void> {
  const { registry } = exchange.context.metrics
  exchange.sendText(200, await registry.metrics(), { 'content-type': registry.contentType })
}

function showDescription(exchange: Exchange): void {
  exchange.send(200, OPENAPI)
}

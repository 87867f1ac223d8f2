import { createError } from '../../engine/errors/errors.ts'
import type { Exchange } from '../http/exchange.ts'
import { createRoute, type Route } from '../http/route.ts'
import { answer } from '../openapi/schema-words.ts'

/** For what watches over servers: load balancers, schedulers, Prometheus. */
export const HEALTH_ROUTES: readonly Route[] = [
  createRoute({
    id: 'showAlive',
    method: 'GET',
    path: '/healthz',
    access: 'open',
    summary: 'Whether the server is alive.',
    answers: { 200: answer('It is.', 'Health') },
    handle: (exchange) => exchange.send(200, { status: 'alive' }),
  }),
  createRoute({
    id: 'showReady',
    method: 'GET',
    path: '/readyz',
    access: 'open',
    summary: 'Whether the engine answers and takes changes.',
    answers: { 200: answer('It does.', 'Health') },
    handle: sayReady,
  }),
  createRoute({
    id: 'showMetrics',
    method: 'GET',
    path: '/metrics',
    access: 'client',
    summary: 'Metrics in the Prometheus text format.',
    answers: { 200: { description: 'Metrics.', mediaType: 'text/plain' } },
    handle: showMetrics,
  }),
]

/** Whether the engine answers and takes changes; what is thrown is the 503 that every route gives. */
async function sayReady(exchange: Exchange): Promise<void> {
  const { engine } = exchange.context
  await engine.read({ kind: 'inspect', key: 'readyz' })
  // Only an engine with a disk of its own can be full, and only such a one counts at no cost.
  const stats = engine.capabilities.shared ? undefined : await engine.read({ kind: 'stats' })
  const full = stats?.journal?.full
  if (full !== undefined) throw createError('LOCK_STORAGE_FAILED', full)
  exchange.send(200, { status: 'ready' })
}

async function showMetrics(exchange: Exchange): Promise<void> {
  const { registry } = exchange.context.metrics
  exchange.sendText(200, await registry.metrics(), { 'content-type': registry.contentType })
}

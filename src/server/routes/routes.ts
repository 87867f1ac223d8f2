import { createRoute, type Route } from '../http/route.ts'
import { describeRoutes } from '../openapi/describe-routes.ts'
import type { ServerLimits } from '../server-limits.ts'
import { SESSION_ROUTE } from '../sessions/session-route.ts'
import { BATCH_ROUTE } from './batch-route.ts'
import { CONTRACT_ROUTES, WORK_ROUTES } from './contract-routes.ts'
import { EVENT_ROUTE } from './event-routes.ts'
import { HEALTH_ROUTES } from './health-routes.ts'
import { FORCE_ROUTE, LOCK_ROUTES } from './lock-routes.ts'
import { OPERATION_ROUTES } from '../operations/operation-routes.ts'
import { PAGE_ROUTE } from './page-route.ts'
import { READING_ROUTES } from './reading-routes.ts'
import { STATUS_ROUTES } from '../operations/status-routes.ts'
import { SUBSCRIBE_ROUTES } from '../operations/subscribe-routes.ts'

/** What every other route reads and answers, as this server has it. */
const DESCRIPTION_ROUTE: Route = createRoute({
  id: 'describe',
  method: 'GET',
  path: '/openapi.json',
  access: 'open',
  summary: 'This description.',
  answers: {
    200: {
      description: 'OpenAPI 3.1.',
      schema: { type: 'object', additionalProperties: true },
    },
  },
  handle: (exchange) => exchange.sendJson(200, describe(exchange.context.limits)),
})

const descriptions = new WeakMap<ServerLimits, Buffer>()

/** Written once: it is long, and no key is needed to ask for it. */
function describe(limits: ServerLimits): Buffer {
  const known = descriptions.get(limits)
  if (known !== undefined) return known
  const text = Buffer.from(JSON.stringify(describeRoutes(ROUTES, limits)))
  descriptions.set(limits, text)
  return text
}

/** Every route of the server. */
export const ROUTES: readonly Route[] = [
  ...LOCK_ROUTES,
  BATCH_ROUTE,
  ...READING_ROUTES,
  FORCE_ROUTE,
  ...WORK_ROUTES,
  ...CONTRACT_ROUTES,
  EVENT_ROUTE,
  ...OPERATION_ROUTES,
  ...STATUS_ROUTES,
  ...SUBSCRIBE_ROUTES,
  SESSION_ROUTE,
  ...HEALTH_ROUTES,
  DESCRIPTION_ROUTE,
  PAGE_ROUTE,
]

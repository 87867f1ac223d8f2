import type { Route } from '../http/route.ts'
import { SESSION_ROUTE } from '../sessions/session-route.ts'
import { BATCH_ROUTES } from './batch-route.ts'
import { CONTRACT_ROUTES } from './contract-routes.ts'
import { EVENT_ROUTES } from './event-routes.ts'
import { FORCE_ROUTES } from './force-route.ts'
import { HEALTH_ROUTES } from './health-routes.ts'
import { LOCK_ROUTES } from './lock-routes.ts'
import { OPERATION_ROUTES } from './operation-routes.ts'
import { PAGE_ROUTES } from './page-route.ts'
import { READING_ROUTES } from './reading-routes.ts'
import { STATUS_ROUTES } from './status-routes.ts'
import { SUBSCRIBE_ROUTES } from './subscribe-routes.ts'

/** Every route of the server. */
export const ROUTES: readonly Route[] = [
  ...LOCK_ROUTES,
  ...BATCH_ROUTES,
  ...READING_ROUTES,
  ...FORCE_ROUTES,
  ...CONTRACT_ROUTES,
  ...EVENT_ROUTES,
  ...OPERATION_ROUTES,
  ...STATUS_ROUTES,
  ...SUBSCRIBE_ROUTES,
  SESSION_ROUTE,
  ...HEALTH_ROUTES,
  ...PAGE_ROUTES,
]

import type { Route } from '../http/route.ts'
import { answerWait, commandRoute } from './answer-command.ts'

/** Commands on locks: one route each, a body in, an outcome out. */
export const LOCK_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/acquire',
    access: 'client',
    handle: (exchange) => answerWait(exchange, 'acquire'),
  },
  commandRoute('release', '/v1/release'),
  commandRoute('renew', '/v1/renew'),
  commandRoute('cancel', '/v1/cancel'),
]

import { snakeKeys } from '../../protocol/json/key-case.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Route } from '../http/route.ts'
import { answerWait, commandRoute } from './answer-command.ts'

/**
 * The rest of the engine's contract, for clients in other languages: operations in the law's own words,
 * sessions by name, sweeping, and what the engine promises.
 */
export const CONTRACT_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/begin',
    access: 'client',
    handle: (exchange) => answerWait(exchange, 'begin'),
  },
  commandRoute('finish', '/v1/finish'),
  commandRoute('withdraw', '/v1/withdraw'),
  commandRoute('unref', '/v1/unref'),
  commandRoute('sweep', '/v1/sweep', { access: 'admin' }),
  commandRoute('open-session', '/v1/sessions/{session}', { method: 'PUT', fill: sessionFields }),
  commandRoute('touch-session', '/v1/sessions/{session}', { fill: sessionFields }),
  commandRoute('close-session', '/v1/sessions/{session}', {
    method: 'DELETE',
    fill: sessionFields,
  }),
  { method: 'GET', path: '/v1/capabilities', access: 'client', handle: showCapabilities },
]

/** The name is in the path; a body that is no object stays wrong. */
function sessionFields({ body, parameters }: Exchange): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  return { ...body, session: parameters['session'] }
}

function showCapabilities(exchange: Exchange): void {
  exchange.send(200, snakeKeys(exchange.engine.capabilities))
}

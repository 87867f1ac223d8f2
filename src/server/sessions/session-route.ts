import { HttpError } from '../http/http-error.ts'
import type { Route } from '../http/route.ts'

/** Where sessions are opened. Only a request that asks for no WebSocket comes here. */
export const SESSION_ROUTE: Route = {
  method: 'GET',
  path: '/v1/session',
  access: 'client',
  handle: () => {
    throw new HttpError(426, 'bad_request', {
      message: 'a session is a WebSocket: ask for the upgrade to one',
      headers: { upgrade: 'websocket', connection: 'Upgrade' },
    })
  },
}

import { HttpError } from '../http/http-error.ts'
import { createRoute, type Route } from '../http/route.ts'
import { answer } from '../openapi/schema-words.ts'

/** Where sessions are opened. Only a request that asks for no WebSocket comes to its handler. */
export const SESSION_ROUTE: Route = createRoute({
  id: 'openWebSocket',
  method: 'GET',
  path: '/v1/session',
  access: 'client',
  summary: 'Open a session over a WebSocket, by which everything else can be done faster.',
  answers: {
    101: {
      description:
        'The WebSocket is open; docs/session-protocol.md says what it carries. Subprotocols and extensions are not used.',
    },
    400: answer('The handshake makes no sense.', 'Error'),
    426: answer('The request asks for no WebSocket, or for one of another version.', 'Error'),
  },
  handle: () => {
    throw new HttpError(426, 'bad_request', {
      message: 'a session is a WebSocket: ask for the upgrade to one',
      headers: { upgrade: 'websocket', connection: 'Upgrade' },
    })
  },
})

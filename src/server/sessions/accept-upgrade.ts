import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { acceptKey, WEBSOCKET_VERSION } from '../../protocol/websocket/handshake.ts'
import { badRequest, HttpError } from '../http/http-error.ts'

/** Sixteen bytes in base 64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/

/**
 * Answers the handshake of a WebSocket, without subprotocols and extensions. Throws an `HttpError` where
 * the request is none that RFC 6455 knows.
 */
export function acceptUpgrade(request: IncomingMessage, socket: Duplex): void {
  const { method, headers } = request
  const key = headers['sec-websocket-key']
  const version = headers['sec-websocket-version']
  if (method !== 'GET') {
    throw new HttpError(405, 'method_not_allowed', {
      message: 'a WebSocket is opened with GET',
      headers: { allow: 'GET' },
    })
  }
  if (key === undefined || !KEY.test(key)) throw badRequest('sec-websocket-key', 'makes no sense')
  if (version !== WEBSOCKET_VERSION) {
    throw new HttpError(426, 'bad_request', {
      message: `the version of WebSockets spoken here is ${WEBSOCKET_VERSION}`,
      headers: { 'sec-websocket-version': WEBSOCKET_VERSION },
    })
  }
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'upgrade: websocket',
    'connection: Upgrade',
    `sec-websocket-accept: ${acceptKey(key)}`,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
}

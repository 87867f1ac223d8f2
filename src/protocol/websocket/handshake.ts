import { createHash } from 'node:crypto'

/** The two constants of the handshake in RFC 6455. */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
export const WEBSOCKET_VERSION = '13'

/** What a server answers to a client's key, to show that it knows what a WebSocket is. */
export function acceptKey(key: string): string {
  return createHash('sha1')
    .update(key + ACCEPT_SUFFIX)
    .digest('base64')
}

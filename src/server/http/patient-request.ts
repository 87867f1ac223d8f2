import { IncomingMessage } from 'node:http'

const wanted = new WeakSet<IncomingMessage>()

/**
 * A request that asks for an upgrade only where it asks for a WebSocket. Some clients offer to go on in
 * HTTP/2 with everything that they send (`Upgrade: h2c`); whoever does not speak that answers as if the
 * offer had not been made. Node decides by this property.
 */
export class PatientRequest extends IncomingMessage {
  get upgrade(): boolean {
    return wanted.has(this) && this.headers.upgrade?.toLowerCase() === 'websocket'
  }

  set upgrade(isWanted: boolean) {
    if (isWanted) wanted.add(this)
    else wanted.delete(this)
  }
}

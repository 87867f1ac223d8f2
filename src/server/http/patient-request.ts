import { IncomingMessage } from 'node:http'

/**
 * A request that asks for an upgrade only where it asks for a WebSocket. Some clients offer to go on in
 * HTTP/2 with every request (`Upgrade: h2c`); a server without HTTP/2 answers as if the offer had not been
 * made. Node decides by this property.
 */
export class PatientRequest extends IncomingMessage {
  /** What Node set. Its own constructor does so first, and nothing may be initialised over that here. */
  declare isUpgradeOffered: boolean

  get upgrade(): boolean {
    return this.isUpgradeOffered && this.headers.upgrade?.toLowerCase() === 'websocket'
  }

  set upgrade(isOffered: boolean) {
    this.isUpgradeOffered = isOffered
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServerContext } from '../server-context.ts'

/** What a debug log says of a request, when its answer has left or its client has. Keys in bodies stay out. */
export class RequestLine {
  /** The name of the principal, once it is known. */
  who: string | undefined

  constructor(
    { method, url = '' }: IncomingMessage,
    response: ServerResponse,
    { log, socketClock }: Pick<ServerContext, 'log' | 'socketClock'>,
  ) {
    const sinceMs = socketClock.nowMs()
    response.once('close', () => {
      const { headersSent, statusCode } = response
      const path = url.split('?', 1)[0]
      const status = headersSent ? statusCode : 'gone'
      const ms = Math.round(socketClock.nowMs() - sinceMs)
      log.debug('request', { method, path, status, ms, who: this.who })
    })
  }
}

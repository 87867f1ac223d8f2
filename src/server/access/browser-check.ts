import type { IncomingMessage } from 'node:http'
import { HttpError } from '../http/http-error.ts'
import { isLoopback } from './loopback.ts'

export interface BrowserCheckOptions {
  readonly isLoopbackOnly: boolean
  /** A stream keeps the place of a node and opens a session, so opening one changes things. */
  readonly isStream: boolean
}

const PORT = /:\d{1,5}$/

/**
 * Refuses what a page of another site makes a person's browser send. A name of that site may point at
 * this machine (then the `Host` header is not ours), and a plain form may be posted to any address
 * (then the browser says where it comes from). Programs send neither header and are not concerned.
 */
export function checkBrowser(request: IncomingMessage, options: BrowserCheckOptions): void {
  const { isLoopbackOnly, isStream } = options
  const { host, origin } = request.headers
  if (isLoopbackOnly && host !== undefined && !isLoopback(host.replace(PORT, ''))) {
    throw forbidden('this server answers to the names of this machine only')
  }
  if (!isStream && isReading(request)) return
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw forbidden('pages of other sites may not change anything here')
  }
  if (origin !== undefined && origin.replace(/^https?:\/\//, '') !== host) {
    throw forbidden('pages of other sites may not change anything here')
  }
}

/** An upgrade is a GET that goes on to change things. */
function isReading({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade === undefined
}

function forbidden(message: string): HttpError {
  return new HttpError(403, 'forbidden', { message })
}

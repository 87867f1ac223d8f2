import type { IncomingMessage } from 'node:http'

/**
 * How many `Host` headers a request has. Node keeps the first of several, a proxy before it may have kept another:
 * by RFC 9112 such a request is refused.
 */
export function countHosts({ rawHeaders }: IncomingMessage): number {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === HOST.length && name.toLowerCase() === HOST) hosts += 1
  }
  return hosts
}

const HOST = 'host'

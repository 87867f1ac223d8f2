import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that the system hands out by itself. */
const PORT_MIN = 12_000
const PORT_MAX = 31_000

/**
 * A port of the loopback address that nobody listened on a moment ago. Until somebody does, no server
 * that asks for any port and no client's own socket takes its place.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORT_MIN, PORT_MAX)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

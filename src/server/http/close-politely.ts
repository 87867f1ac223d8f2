import type { Server } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import { SystemClock } from '../../time/system-clock.ts'
import { cutConnections } from './listener.ts'

const LOOK_MS = 10
const GRACE_MS = 1_000

/**
 * Stops accepting, lets the answers that are on their way leave, and closes each connection as it falls
 * idle. Connections that are left after a second are cut.
 */
export async function closePolitely(http: Server | TlsServer): Promise<void> {
  const clock = new SystemClock()
  const untilMs = clock.nowMs() + GRACE_MS
  const look = (): void => {
    if (clock.nowMs() >= untilMs) cutConnections(http)
    else http.closeIdleConnections()
    timer = clock.setTimer(LOOK_MS, look)
  }
  let timer = clock.setTimer(0, look)
  await new Promise((resolve) => http.close(resolve))
  timer.cancel()
}

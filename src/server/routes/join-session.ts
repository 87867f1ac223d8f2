import type { Exchange } from '../http/exchange.ts'
import { queryText } from '../http/query-reader.ts'
import { inWireNames } from './operation-names.ts'

/**
 * A stream that names a session is one. Its client is told how long its streams may be gone before the
 * server gives up on it. Returns how to leave; `onEnded` is called if the session ends before that.
 */
export async function joinSession(exchange: Exchange, onEnded: () => void): Promise<() => void> {
  const { context, engine, principal, response } = exchange
  const session = queryText(exchange, 'session')
  if (session === undefined) return () => {}
  const scope = principal.name
  const leave = await inWireNames(context.streamSessions.open({ engine, scope, session, onEnded }))
  response.setHeader('session-grace-ms', context.sessionGraceMs)
  return leave
}

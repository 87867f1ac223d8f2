import { writeEvent } from '../../protocol/json/event-body.ts'
import type { Exchange } from '../http/exchange.ts'
import { queryNamespace, queryText } from '../http/query-reader.ts'
import type { Route } from '../http/route.ts'
import { EventFeed } from '../streams/event-feed.ts'
import type { NumberedEvent } from '../streams/event-hub.ts'
import type { StreamEvent } from '../streams/event-stream.ts'
import { keepSession, openStreamSession } from '../streams/keep-session.ts'

const HEARTBEAT_MS = 1_500

/** Every change, as it happens. */
export const EVENT_ROUTES: readonly Route[] = [
  { method: 'GET', path: '/v1/events', access: 'client', handle: stream },
]

async function stream(exchange: Exchange): Promise<void> {
  const { context, request } = exchange
  const session = queryText(exchange, 'session')
  const show = showFor(exchange)
  if (session !== undefined) await openStreamSession(exchange, session)
  if (exchange.isGone) return
  const opened = context.streams.open(exchange, HEARTBEAT_MS)
  if (session !== undefined) keepSession(exchange, session, opened)
  const feed = new EventFeed({
    hub: context.events,
    stream: opened,
    show,
    showReset: (id) => toReset(id, context.clock.wallMs()),
  })
  const lastEventId = request.headers['last-event-id']
  feed.start(typeof lastEventId === 'string' ? lastEventId : undefined)
}

function showFor(exchange: Exchange): (numbered: NumberedEvent) => StreamEvent | undefined {
  const prefix = queryText(exchange, 'prefix')
  const namespace = queryNamespace(exchange)
  exchange.context.access.viewOf(exchange.principal).assertPrefix(prefix ?? '')
  return ({ id, event }) => {
    if (event.kind === 'reset') return toReset(id, event.atMs)
    if (prefix !== undefined && !event.key.startsWith(prefix)) return undefined
    if (namespace !== undefined && event.namespace !== namespace) return undefined
    const shown = exchange.showEvent(event)
    return shown === undefined ? undefined : { id, data: writeEvent(shown, id) }
  }
}

/** Events were missed: read the state again. */
function toReset(id: string, atMs: number): StreamEvent {
  return { id, event: 'reset', data: writeEvent({ kind: 'reset', id: 0, atMs }, id) }
}

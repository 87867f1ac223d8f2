import type { Exchange } from '../http/exchange.ts'
import * as field from '../http/field-types.ts'
import type { Asked } from '../http/fields.ts'
import { createRoute, type Route } from '../http/route.ts'
import { anyOf, ref } from '../openapi/schema-words.ts'
import { EventFeed, type EventFeedOptions } from '../observe/event-feed.ts'
import type { EventStream } from '../observe/event-stream.ts'
import { answerStream, streamAnswers } from './answer-stream.ts'

const QUERY = {
  prefix: { ...field.TEXT, about: 'Of the key.' },
  namespace: field.NAMESPACE,
  session: field.SESSION,
} as const

/** Every change, as it happens. */
export const EVENT_ROUTE: Route = createRoute({
  id: 'watchEvents',
  method: 'GET',
  path: '/v1/events',
  access: 'client',
  summary: 'Every change, as Server-Sent Events; `Last-Event-ID` resumes.',
  query: QUERY,
  headers: ['Last-Event-ID'],
  isStream: true,
  answers: streamAnswers(anyOf(ref('Change'), ref('Reset'))),
  handle: stream,
})

function stream(exchange: Exchange, asked: Asked<typeof QUERY>): Promise<void> {
  const show = showFor(exchange, asked)
  return answerStream(exchange, asked.session, () => feed(exchange, show))
}

function feed(exchange: Exchange, show: Show): EventStream | undefined {
  const { context, request } = exchange
  if (exchange.isGone) return undefined
  const opened = context.streams.open(exchange)
  const { events: hub, clock } = context
  const fed = new EventFeed({ hub, stream: opened, show, wallMs: () => clock.wallMs() })
  const lastEventId = request.headers['last-event-id']
  const isGiven = typeof lastEventId === 'string' && lastEventId !== ''
  fed.start(isGiven ? lastEventId : undefined)
  return opened
}

type Show = EventFeedOptions['show']

function showFor({ view }: Exchange, { prefix, namespace }: Asked<typeof QUERY>): Show {
  view.assertPrefix(prefix ?? '')
  return (event) => {
    if (event.kind === 'reset') return event
    if (prefix !== undefined && !event.key.startsWith(prefix)) return undefined
    if (namespace !== undefined && event.namespace !== namespace) return undefined
    return view.showEvent(event)
  }
}

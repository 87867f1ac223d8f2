import { writeEvent } from '../../wire/json/event-body.ts'
import type { Exchange } from '../http/exchange.ts'
import * as field from '../http/field-types.ts'
import type { Asked } from '../http/fields.ts'
import { createRoute, type Route } from '../http/route.ts'
import { anyOf, ref } from '../openapi/schema-words.ts'
import { EventFeed } from '../observe/event-feed.ts'
import type { NumberedEvent } from '../observe/event-hub.ts'
import type { EventStream, StreamEvent } from '../observe/event-stream.ts'
import { joinSession, streamAnswers } from './join-session.ts'

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

async function stream(exchange: Exchange, asked: Asked<typeof QUERY>): Promise<void> {
  const show = showFor(exchange, asked)
  const opened: { stream?: EventStream | undefined } = {}
  const leave = await joinSession(exchange, asked.session, () => opened.stream?.close())
  try {
    opened.stream = feed(exchange, show)
  } catch (error) {
    leave()
    throw error
  }
  if (opened.stream === undefined) leave()
  else opened.stream.onClose(leave)
}

function feed(exchange: Exchange, show: Show): EventStream | undefined {
  const { context, request } = exchange
  if (exchange.isGone) return undefined
  const opened = context.streams.open(exchange)
  const fed = new EventFeed({
    hub: context.events,
    stream: opened,
    show,
    showReset: (id) => toReset(id, context.clock.wallMs()),
  })
  const lastEventId = request.headers['last-event-id']
  const isGiven = typeof lastEventId === 'string' && lastEventId !== ''
  fed.start(isGiven ? lastEventId : undefined)
  return opened
}

type Show = (numbered: NumberedEvent) => StreamEvent | undefined

function showFor(exchange: Exchange, { prefix, namespace }: Asked<typeof QUERY>): Show {
  exchange.view.assertPrefix(prefix ?? '')
  return ({ id, event }) => {
    if (event.kind === 'reset') return toReset(id, event.atMs)
    if (prefix !== undefined && !event.key.startsWith(prefix)) return undefined
    if (namespace !== undefined && event.namespace !== namespace) return undefined
    const shown = exchange.view.showEvent(event)
    return shown === undefined ? undefined : { id, data: writeEvent(shown, id) }
  }
}

/** Events were missed: read the state again. */
function toReset(id: string, atMs: number): StreamEvent {
  return { id, event: 'reset', data: writeEvent({ kind: 'reset', id: 0, atMs }, id) }
}

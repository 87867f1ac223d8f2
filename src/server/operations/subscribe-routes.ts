import type { Exchange } from '../http/exchange.ts'
import * as field from '../http/field-types.ts'
import type { Asked } from '../http/fields.ts'
import { createRoute, type Route } from '../http/route.ts'
import { ref } from '../openapi/schema-words.ts'
import type { EventStream } from '../observe/event-stream.ts'
import { OperationSubscription } from './operation-subscription.ts'
import { PlaceKeeper } from './place-keeper.ts'
import { answerStream, streamAnswers } from '../routes/answer-stream.ts'
import { checkSubject, type Subject } from './operation-state.ts'
import { lookAtStanding, lookFirst } from './subscribe-opening.ts'

const QUERY = {
  type: { ...field.OPERATION_TYPE, needed: true },
  resource: { ...field.RESOURCE, wire: 'resource_id', needed: true },
  node: {
    ...field.NODE,
    wire: 'node_id',
    about: 'Who listens: hears how it stands, and keeps its place.',
  },
  session: field.SESSION,
} as const

/** Be told how operations end and who is next. */
export const SUBSCRIBE_ROUTES: readonly Route[] = [
  subscribeRoute('subscribeToLock', '/lock/subscribe'),
  subscribeRoute('subscribe', '/subscribe'),
]

function subscribeRoute(id: string, path: string): Route {
  return createRoute({
    id,
    method: 'GET',
    path,
    access: 'client',
    summary: 'How operations on a resource end, and who is next, as Server-Sent Events.',
    query: QUERY,
    headers: ['Last-Event-ID'],
    isStream: true,
    answers: streamAnswers(ref('OperationEvent')),
    handle: subscribe,
  })
}

type Listener = Asked<typeof QUERY>

/**
 * Clients in the field do not say who they are, and take any line, even a comment, for a reason to ask
 * again and to listen anew. Asking keeps their place, so they need a line now and then; one every second
 * would have a thousand waiting nodes ask a thousand times a second.
 */
const COMMENT_MS_UNNAMED = 30_000

/** How long after its opening a stream is told of a grant that its node has not taken. */
const REMINDER_MS = 1_000

async function subscribe(exchange: Exchange, listener: Listener): Promise<void> {
  checkSubject(listener)
  await answerStream(exchange, listener.session, (cleanUps) => listen(exchange, listener, cleanUps))
}

/** Opens the stream, and says in `cleanUps` what has to be undone after it. */
async function listen(
  exchange: Exchange,
  listener: Listener,
  cleanUps: (() => void)[],
): Promise<EventStream | undefined> {
  const { context } = exchange
  const { resource, node, session } = listener
  const { view } = exchange
  const looking = { subject: listener, view }
  const subscription = new OperationSubscription(listener, view, context.references)
  // Listening begins before looking, so that nothing falls between the two.
  const stop = context.operations.listen(resource, (news) => {
    subscription.hear(news)
    if (news.kind === 'reset') void tellAnew(lookAtStanding(exchange, looking), subscription)
  })
  cleanUps.push(stop)
  const { news, position } = await lookFirst(exchange, looking)
  if (exchange.isGone) return undefined
  // Clients that say who they are know what a comment is.
  const isNamed = node !== undefined || session !== undefined
  const stream = context.streams.open(exchange, isNamed ? undefined : COMMENT_MS_UNNAMED)
  if (node === undefined) cleanUps.push(remind(exchange, resource, subscription))
  else cleanUps.push(keepPlace(exchange, { ...listener, node }))
  subscription.open(stream, news)
  if (position !== undefined) stream.comment(`waiting, position ${position}`)
  return stream
}

/** The engine has lost track: how things stand is said again. */
async function tellAnew(
  looking: ReturnType<typeof lookAtStanding>,
  subscription: OperationSubscription,
): Promise<void> {
  try {
    for (const news of (await looking).news) subscription.hear(news)
  } catch {
    // The engine does not answer; the listener knows that it missed something and asks.
  }
}

/**
 * A grant that came between asking and listening is told to those who do not say who they are as well, a
 * moment later: by then most grants have been taken, and who has nothing to do with it is not told.
 * Returns how to stop.
 */
function remind(
  { context }: Exchange,
  resource: string,
  subscription: OperationSubscription,
): () => void {
  const { clock, operations, settings } = context
  const openedAtMs = clock.wallMs()
  const timer = clock.setTimer(REMINDER_MS, () => {
    const news = operations.unclaimed(resource, clock.wallMs() - settings.claimWindowMs)
    if (news !== undefined && news.atMs <= openedAtMs) subscription.hear(news)
  })
  return () => timer.cancel()
}

/** A client that listens under its own name is in touch. Returns how to stop. */
function keepPlace(
  { engine, context }: Exchange,
  { type, resource, node }: Subject & { readonly node: string },
): () => void {
  const { coordination, waiterPatienceMs } = context.settings
  const keeper = new PlaceKeeper(engine, {
    begin: { kind: 'begin', type, resource, node, coordination },
    patienceMs: waiterPatienceMs,
    clock: context.clock,
  })
  return () => keeper.close()
}

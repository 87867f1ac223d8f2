import type { Exchange } from '../http/exchange.ts'
import type { Schema } from '../http/fields.ts'
import type { DescribedAnswer } from '../http/route.ts'

/** What a stream of such events can be answered with. */
export function streamAnswers(events: Schema): Readonly<Record<number, DescribedAnswer>> {
  return {
    200: {
      description: 'Server-Sent Events, each with JSON for its data.',
      mediaType: 'text/event-stream',
      events,
      headers: {
        'Session-Grace-Ms': 'With a `session`: how long all streams that name it may be gone.',
      },
    },
  }
}

/**
 * A stream that names a session is one. Its client is told how long its streams may be gone before the
 * server gives up on it. Returns how to leave; `onEnded` is called if the session ends before that.
 */
export async function joinSession(
  exchange: Exchange,
  session: string | undefined,
  onEnded: () => void,
): Promise<() => void> {
  if (session === undefined) return () => {}
  const { context, engine, principal, response } = exchange
  const scope = principal.name
  const leave = await context.streamSessions.open({ engine, scope, session, onEnded })
  response.setHeader('session-grace-ms', context.sessionGraceMs)
  return leave
}

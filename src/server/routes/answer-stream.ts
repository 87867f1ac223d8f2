import type { Exchange } from '../http/exchange.ts'
import type { Schema } from '../http/fields.ts'
import { HttpError } from '../http/http-error.ts'
import type { DescribedAnswer } from '../http/route.ts'
import { answer } from '../openapi/schema-words.ts'
import type { EventStream } from '../observe/event-stream.ts'

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
    404: answer('The session is that of a WebSocket.', 'Error'),
  }
}

/**
 * Answers with the stream that `open` opens, if it does. What it adds to `cleanUps` is done when the stream is
 * over, or was not opened.
 *
 * A stream that names a session is one. Its client is told how long its streams may be gone before the
 * server gives up on it, and the stream ends if the session does.
 */
export async function answerStream(
  exchange: Exchange,
  sessionId: string | undefined,
  open: (cleanUps: (() => void)[]) => Promise<EventStream | undefined> | EventStream | undefined,
): Promise<void> {
  const session = { hasEnded: false, stream: undefined as EventStream | undefined }
  const cleanUps: (() => void)[] = []
  const cleanUp = (): void => {
    for (const undo of cleanUps.splice(0)) undo()
  }
  const onEnded = (): void => {
    session.hasEnded = true
    session.stream?.close()
  }
  try {
    if (sessionId !== undefined) cleanUps.push(await joinSession(exchange, sessionId, onEnded))
    session.stream = await open(cleanUps)
  } catch (error) {
    cleanUp()
    throw error
  }
  if (session.stream === undefined) cleanUp()
  else session.stream.onClose(cleanUp)
  if (session.hasEnded) session.stream?.close()
}

async function joinSession(
  { context, engine, principal, response, view }: Exchange,
  session: string,
  onEnded: () => void,
): Promise<() => void> {
  if (context.socketSessions.isOfAnother(session, view)) {
    throw new HttpError(404, 'no_session', {
      message: 'there is no such session, or it is that of a WebSocket',
      details: { field: 'session' },
    })
  }
  const scope = principal.name
  const leave = await context.streamSessions.open({ engine, scope, session, onEnded })
  response.setHeader('session-grace-ms', context.sessionGraceMs)
  return leave
}

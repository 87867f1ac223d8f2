import type { Registry } from 'prom-client'
import { type Count, Counts } from './counts.ts'

/**
 * How a session ended: by a spoken good-bye, because its client did not come back after its connection
 * broke, because nothing was heard although the connection was there, or because its token was revoked.
 */
export type SessionEnd = 'goodbye' | 'gone' | 'silent' | 'revoked'

/** What sessions do, counted as it happens. Sessions that a stop of the server leaves to the next one have not ended. */
export class SessionMetrics {
  readonly opened: Count
  readonly resumed: Count
  readonly requests: Count
  readonly framesIn: Count
  readonly framesOut: Count
  readonly ended: Readonly<Record<SessionEnd, Count>>

  constructor(registry: Registry) {
    const count = (name: string, help: string): Count => new Counts(registry, { name, help }).of()
    this.opened = count(
      'holdfast_sessions_opened_total',
      'Sessions that this server began to serve, those of another server included.',
    )
    this.resumed = count(
      'holdfast_sessions_resumed_total',
      'Times that a client came back to its session after its connection broke.',
    )
    const ended = new Counts(registry, {
      name: 'holdfast_sessions_ended_total',
      help: 'Sessions that ended, by reason.',
      labelNames: ['reason'],
    })
    this.ended = {
      goodbye: ended.of('goodbye'),
      gone: ended.of('gone'),
      silent: ended.of('silent'),
      revoked: ended.of('revoked'),
    }
    this.requests = count(
      'holdfast_session_requests_total',
      'Commands, reads and watches that were asked for over sessions.',
    )
    const frames = new Counts(registry, {
      name: 'holdfast_session_frames_total',
      help: 'Frames of sessions, by direction; each has one message or many.',
      labelNames: ['direction'],
    })
    this.framesIn = frames.of('in')
    this.framesOut = frames.of('out')
  }
}

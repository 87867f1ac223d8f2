import type { Timer } from '../../time/clock.ts'
import type { Exchange } from '../http/exchange.ts'
import type { EventStream } from './event-stream.ts'

/** A session is touched this many times in a grace, so that a late timer ends nothing. */
const TOUCHES_PER_GRACE = 3

/**
 * A stream that is a session too, for clients that speak only HTTP: it lives while the stream is open,
 * and the grace runs from its close. Its holds keep their own leases, because a paused client cannot be
 * told from a quiet one.
 */
export async function openStreamSession(
  { context, engine }: Exchange,
  session: string,
): Promise<void> {
  const graceMs = context.sessionGraceMs
  await engine.apply({ kind: 'open-session', session, graceMs, keepsLeases: false })
}

/** Touches the session while the stream is open, and once more when it closes. */
export function keepSession(
  { context, engine }: Exchange,
  session: string,
  stream: EventStream,
): void {
  const touch = async (): Promise<void> => {
    try {
      const outcome = await engine.apply({ kind: 'touch-session', session })
      if (outcome.kind === 'refused') stream.close()
    } catch {
      // The engine is failing or closed; what that means for the session is decided there.
    }
  }
  const everyMs = context.sessionGraceMs / TOUCHES_PER_GRACE
  const arm = (): Timer =>
    context.clock.setTimer(everyMs, () => {
      timer = arm()
      void touch()
    })
  let timer = arm()
  stream.onClose(() => {
    timer.cancel()
    void touch()
  })
}

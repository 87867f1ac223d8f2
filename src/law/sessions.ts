import type { SessionCommand } from './commands.ts'
import type { Outcome, Refused } from './outcomes.ts'
import type { Session } from './view.ts'

/** What becomes of a session's own record; its keys are decided one by one with `leave`. */
export interface SessionDecision {
  /** The record from now on; `null` when the session ends; `undefined` when nothing changes. */
  readonly session: Session | null | undefined
  readonly outcome: Outcome
}

export const NO_SESSION: Refused = Object.freeze({ kind: 'refused', code: 'no_session' })

/**
 * Decide on a session. The caller has ended it already if it was silent for too long, so `known` is
 * alive. The number of ended holds and waiters in the outcome of a close is the caller's to fill in.
 */
export function decideSession(
  known: Session | undefined,
  command: SessionCommand,
  nowMs: number,
): SessionDecision {
  switch (command.kind) {
    case 'open-session':
      return {
        session: {
          id: command.session,
          graceMs: command.graceMs,
          keepsLeases: command.keepsLeases ?? true,
          heardAtMs: nowMs,
        },
        outcome: { kind: 'session-opened', resumed: known !== undefined },
      }
    case 'touch-session':
      if (known === undefined) return { session: undefined, outcome: NO_SESSION }
      return { session: { ...known, heardAtMs: nowMs }, outcome: { kind: 'session-touched' } }
    case 'close-session':
      if (known === undefined) return { session: undefined, outcome: NO_SESSION }
      return { session: null, outcome: { kind: 'session-closed', ended: 0 } }
  }
}

/** Silence counts from the last thing received from the client. */
export function silentAtMs(session: Session): number {
  return session.heardAtMs + session.graceMs
}

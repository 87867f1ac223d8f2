import type { SessionCommand } from './model/commands.ts'
import type { Outcome, Refused } from './model/outcomes.ts'
import type { Session } from './model/view.ts'

/** What a command changes on a session's own record; its keys are decided one by one with `leave`. */
export interface SessionDecision {
  /** The record from now on; `null` when the session ends; `undefined` when nothing changes. */
  readonly session: Session | null | undefined
  readonly outcome: Outcome
}

export const NO_SESSION: Refused = Object.freeze({ kind: 'refused', code: 'no_session' })

/**
 * Decide on a session. If its client was silent for the grace, the engine has seen to that before. The
 * engine fills in the number of ended holds and waiters in the outcome of a close.
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

/** When the grace of a client is over that is not heard from again. */
export function silentAtMs(session: Session): number {
  return session.heardAtMs + session.graceMs
}

/** Whether a session that is `undefined` has ended, or the client of one that is there was silent for the grace. */
export function losesPlaces(session: Session | undefined, nowMs: number): boolean {
  return session === undefined || silentAtMs(session) <= nowMs
}

/**
 * Whether its holds end too. Where heartbeats renew leases, a silent client keeps each hold until the lease
 * runs out, and the session stays for as long as it has holds.
 */
export function losesHolds(session: Session | undefined, nowMs: number): boolean {
  return session === undefined || (!session.keepsLeases && losesPlaces(session, nowMs))
}

import type { Command } from '../../law/commands.ts'
import type { Outcome, OutcomeOf } from '../../law/outcomes.ts'
import { toWithdrawal, type WaitingCommand } from '../../engine/waits/waiting-command.ts'

/** Sends a command and brings its outcome. */
export type Send = <C extends Command>(command: C) => Promise<OutcomeOf<C>>

/**
 * A wait was given up while its answer was on the way: what the answer brought is undone. Returns whether
 * it was; a refusal, or work that is already done, is an answer like any other.
 */
export async function undoGrant(
  send: Send,
  command: WaitingCommand,
  outcome: Outcome,
): Promise<boolean> {
  if (outcome.kind !== 'granted' && outcome.kind !== 'queued') return false
  await send<Command>(toWithdrawal(command))
  return true
}

import type { Acquire, Begin, Command } from '../../law/commands.ts'
import type { Outcome, OutcomeOf } from '../../law/outcomes.ts'
import { isUpgraded, toWithdrawal } from '../../law/waiting.ts'

/** Sends a command and brings its outcome. */
export type Send = <C extends Command>(command: C) => Promise<OutcomeOf<C>>

/**
 * A wait was given up while its answer was on the way: what the answer brought is given back. Returns
 * whether it was; a refusal, work that is already done, or an upgrade at once is an answer like any other.
 */
export async function undoGrant(
  send: Send,
  command: Acquire | Begin,
  outcome: Outcome,
): Promise<boolean> {
  if (outcome.kind !== 'granted' && outcome.kind !== 'queued') return false
  const withdrawn = await send<Command>(toWithdrawal(command))
  const isBack = withdrawn.kind === 'cancelled' && withdrawn.cancelled
  if (isBack || outcome.kind === 'queued') return true
  if (isUpgraded(command, outcome)) return (await askStanding(send, command)).kind !== 'granted'
  // It was granted directly: that is taken by being granted, and given back by a release.
  const { token } = outcome
  if (command.kind === 'acquire') {
    const { key, owner, mode = 'write', requestId } = command
    await send({ kind: 'release', key, owner, mode, token, requestId: `${requestId}-undone` })
  } else {
    const { type, resource, node } = command
    await send({ kind: 'finish', type, resource, node, token, success: false, error: 'aborted' })
  }
  return true
}

/**
 * What has become of a request that a withdrawal found nothing to withdraw of. It may have been settled before;
 * or a first withdrawal has undone it, and its answer was lost. The request knows.
 */
function askStanding(send: Send, command: Acquire | Begin): Promise<OutcomeOf<Acquire | Begin>> {
  return send<Acquire | Begin>({ ...command, waitMs: 0 })
}

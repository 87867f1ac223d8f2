import type { Begin } from '../law/commands.ts'
import type { OutcomeOf } from '../law/outcomes.ts'
import type { LocksContext } from './locks-context.ts'
import { sendInBackground } from './retrying.ts'

/**
 * Take back what a `begin` brought that nobody wants any more: a turn counts as failed, a place in the
 * queue is left. Never rejects; what could not be taken back ends with its lease.
 */
export async function undoBegin(
  context: LocksContext,
  request: Begin,
  outcome: OutcomeOf<Begin>,
): Promise<void> {
  const { type, resource, node } = request
  try {
    if (outcome.kind === 'queued') {
      await sendInBackground(context, { kind: 'withdraw', type, resource, node })
    } else if (outcome.kind === 'granted') {
      const { token } = outcome
      const finish = { kind: 'finish', type, resource, node, token, success: false } as const
      await sendInBackground(context, finish)
    }
  } catch {
    // Whoever comes here has a better error to report, or none.
  }
}

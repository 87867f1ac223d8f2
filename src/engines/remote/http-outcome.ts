import type { Command } from '../../law/commands.ts'
import type { Outcome } from '../../law/outcomes.ts'
import { isHeldOpen } from '../../law/waiting.ts'
import { readOutcome } from '../../protocol/json/outcome-body.ts'
import type { OpenCall } from './http-link.ts'
import { toError } from './http-requests.ts'

/**
 * The outcome of a call, or the error that its answer means. Where an earlier answer got lost, this one
 * comes from a memory of the request: a grant that was undone before anyone heard of it never was, and
 * what ended the wait counts.
 */
export async function outcomeOf(command: Command, call: OpenCall): Promise<Outcome> {
  const answer = await call.answer
  const outcome = readOutcome(answer.body)
  if (outcome === undefined) throw toError(command, answer)
  if (call.applied === 'no' || outcome.kind !== 'refused' || !isHeldOpen(command)) return outcome
  if (outcome.end === 'cancelled') return { kind: 'refused', code: 'cancelled' }
  return outcome.end === 'unclaimed' ? { kind: 'refused', code: 'abandoned' } : outcome
}

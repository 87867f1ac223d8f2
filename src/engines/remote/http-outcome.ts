import type { InspectReply } from '../../engine/queries.ts'
import type { Command } from '../../law/commands.ts'
import { HOLDERS_SHOWN_MAX } from '../../law/limits.ts'
import type { Outcome, RefusalCode, Refused } from '../../law/outcomes.ts'
import type { Namespace } from '../../law/view.ts'
import { readOutcome } from '../../protocol/json/outcome-body.ts'
import type { OpenCall } from './http-link.ts'
import { toError } from './http-requests.ts'
import { isWaiting } from './http-waits.ts'

/** Reads who holds a key. */
export type Inspect = (key: string, namespace: Namespace) => Promise<InspectReply>

/**
 * The outcome of a call, or the error that its answer means. Where an earlier answer got lost, this one
 * comes from the server's memory of the request, and is made what the first one was.
 */
export async function outcomeOf(
  command: Command,
  call: OpenCall,
  inspect: Inspect,
): Promise<Outcome> {
  const answer = await call.answer
  const outcome = readOutcome(answer.body)
  if (outcome === undefined) throw toError(command, answer)
  if (call.applied === 'no' || outcome.kind !== 'refused') return outcome
  if (isWaiting(command)) {
    // A grant that was undone before anyone heard of it never was: what ended the wait counts.
    if (outcome.end === 'cancelled') return { kind: 'refused', code: 'cancelled' }
    if (outcome.end === 'unclaimed') return { kind: 'refused', code: 'abandoned' }
  }
  if (outcome.holders !== undefined || !NAMES_HOLDERS.has(outcome.code)) return outcome
  if (command.kind === 'acquire') return withHolders(outcome, inspect(command.key, 'lock'))
  if (command.kind !== 'begin') return outcome
  return withHolders(outcome, inspect(command.resource, 'operation'))
}

/** Refusals that name the present holders. */
const NAMES_HOLDERS: ReadonlySet<RefusalCode> = new Set(['held', 'timeout', 'upgrade_conflict'])

async function withHolders(outcome: Refused, inspected: Promise<InspectReply>): Promise<Refused> {
  try {
    const { holders } = await inspected
    const shown = holders.slice(0, HOLDERS_SHOWN_MAX)
    return {
      ...outcome,
      holders: shown.map(({ owner, mode, token, heldMs, leaseMs }) => {
        return { owner, mode, token, heldMs, leaseMs }
      }),
    }
  } catch {
    return outcome
  }
}

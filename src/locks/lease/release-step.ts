import type { Release } from '../../law/model/commands.ts'
import type { Refused, Released } from '../../law/model/outcomes.ts'
import type { LocksContext } from '../locks-context.ts'
import { RETRY_MS_MIN } from '../options/locks-limits.ts'
import { askAgain } from '../request/retrying.ts'

/** Give up one step, asking again if the answer is lost. Throws if the engine stays out of reach. */
export async function releaseStep(
  context: LocksContext,
  command: Release,
): Promise<Released | Refused> {
  try {
    return await context.engine.apply(command)
  } catch (error) {
    return releaseAgain(context, command, error)
  }
}

/** The first attempt failed: find out what became of it. */
export async function releaseAgain(
  context: LocksContext,
  command: Release,
  error: unknown,
): Promise<Released | Refused> {
  const untilMs = context.clock.nowMs() + RETRY_MS_MIN
  const { outcome } = await askAgain({ context, command: () => command, error, untilMs })
  // Without a request id a refusal means most likely that the first attempt had got through.
  if (outcome.kind === 'released' || command.requestId !== undefined) return outcome
  return { kind: 'released', reads: 0, writes: 0 }
}

import { isLockError } from '../../../engine/errors/errors.ts'
import type { Command } from '../../../law/model/commands.ts'
import type { OutcomeOf } from '../../../law/model/outcomes.ts'
import { type ClientContext, sleep } from './client-context.ts'

const ATTEMPTS_MAX = 6
const BACKOFF_MS_MAX = 300

/**
 * Sends a command again, the same in every respect, until an answer comes. While there are faults it gives
 * up after some attempts and returns nothing; what became of the command is then not known.
 */
export async function insist<C extends Command>(
  context: ClientContext,
  command: C,
  attemptsMax: number = ATTEMPTS_MAX,
): Promise<OutcomeOf<C> | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await context.engine.apply(command)
    } catch (error) {
      if (!isLockError(error, 'LOCK_ENGINE_UNAVAILABLE')) throw error
      if (attempt >= attemptsMax && !context.isHealed()) return undefined
    }
    await sleep(context, context.random.int(1, BACKOFF_MS_MAX))
  }
}

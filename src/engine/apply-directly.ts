import type { Command } from '../law/commands.ts'
import type { OutcomeOf } from '../law/outcomes.ts'
import type { EarlyOutcome } from './early-outcome.ts'
import type { ApplyOptions, LockEngine } from './engine.ts'

/** Apply a command by the shortest way that an engine has. Never throws. */
export function applyDirectly<C extends Command>(
  engine: LockEngine,
  command: C,
  options?: ApplyOptions,
): OutcomeOf<C> | Promise<OutcomeOf<C>> {
  return engine.applyDirectly === undefined
    ? engine.apply(command, options)
    : engine.applyDirectly(command, options)
}

/** The same where it is of use to have outcomes before they are on stable storage. */
export function applyEarly<C extends Command>(
  engine: LockEngine,
  command: C,
  options?: ApplyOptions,
): OutcomeOf<C> | EarlyOutcome<OutcomeOf<C>> | Promise<OutcomeOf<C>> {
  return engine.applyEarly === undefined
    ? applyDirectly(engine, command, options)
    : engine.applyEarly(command, options)
}

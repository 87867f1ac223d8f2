import type { KeyCommand } from '../../../src/law/model/commands.ts'
import type { Decision } from '../../../src/law/decide.ts'
import { compareForms } from '../world/compare-forms.ts'
import {
  describeLawAnswer,
  describeLawState,
  describeModelAnswer,
  describeModelState,
} from '../world/describe-state.ts'
import type { NaiveModel } from './naive-model.ts'
import { type Place, type PlainWorld, placeOf } from '../world/plain-world.ts'

/** Law and model side by side. */
export interface Pair {
  readonly world: PlainWorld
  readonly model: NaiveModel
}

/**
 * Runs a command on both and compares what they answer, what they tell those who waited and what they
 * leave behind. Throws where they differ, or where the short form of the law says anything else than the
 * whole.
 */
export function runBoth(
  { world, model }: Pair,
  command: KeyCommand,
  at: { readonly nowMs: number; readonly place?: Place },
): Decision {
  const { nowMs, place = placeOf(command) } = at
  const { namespace, key } = place
  compareForms(world, { command, nowMs, place })
  const decision = world.run(command, nowMs, place)
  const answer = model.run(command, nowMs, place)
  const after = world.state(namespace, key)
  compare(describeLawAnswer(decision), describeModelAnswer(answer))
  compare(describeLawState(after), describeModelState(model.key(namespace, key)))
  return decision
}

function compare(law: string, model: string): void {
  if (law !== model) throw new Error(`law:\n${law}\nmodel:\n${model}`)
}

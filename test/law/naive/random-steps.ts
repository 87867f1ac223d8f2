import type { KeyCommand } from '../../../src/law/model/commands.ts'
import type { Decision } from '../../../src/law/decide.ts'
import type { LawSettings } from '../../../src/law/model/settings.ts'
import type { Namespace } from '../../../src/law/model/view.ts'
import type { KeyState } from '../world/plain-view.ts'
import { type Place, placeOf } from '../world/plain-world.ts'
import { createPair, type HandOver, type RandomCommand, runSession } from './random-run.ts'
import { type Pair, runBoth } from './run-both.ts'

/** One decision of a random run, with the key before and after it. */
export interface RandomStep {
  readonly command: KeyCommand
  readonly nowMs: number
  readonly place: Place
  readonly before: KeyState
  readonly after: KeyState
  readonly decision: Decision
  readonly pair: Pair
}

interface StepsOptions {
  readonly namespace: Namespace
  readonly settings?: Partial<LawSettings>
  /** On: the model goes the same way, and every step is compared. */
  readonly comparesWithModel?: boolean
}

/** Runs the law through the commands and hands out each decision. */
export function* randomSteps(
  run: readonly RandomCommand[],
  { namespace, settings = {}, comparesWithModel = false }: StepsOptions,
): Generator<RandomStep, void> {
  const pair = createPair(settings)
  let nowMs = 1_000
  for (const command of run) {
    if (command.kind === 'tick') nowMs += command.ms
    else
      for (const [one, place] of decisionsOf(pair, command, { nowMs, namespace })) {
        const before = pair.world.state(place.namespace, place.key)
        const decision = comparesWithModel
          ? runBoth(pair, one, { nowMs, place })
          : pair.world.run(one, nowMs, place)
        const after = pair.world.state(place.namespace, place.key)
        yield { command: one, nowMs, place, before, after, decision, pair }
      }
  }
}

/** A command of a session is decided on its record first, and on every key if the session ends. */
function decisionsOf(
  pair: Pair,
  command: Exclude<RandomCommand, { kind: 'tick' }>,
  { nowMs, namespace }: { readonly nowMs: number; readonly namespace: Namespace },
): readonly (readonly [KeyCommand, Place])[] {
  const everywhere = ['a', 'b'].map((key) => ({ namespace, key }))
  switch (command.kind) {
    case 'open-session':
    case 'touch-session':
    case 'close-session': {
      const { session } = command
      const hasEnded = runSession(pair, command, nowMs)
      return hasEnded ? everywhere.map((place) => [{ kind: 'leave', session }, place]) : []
    }
    case 'hand-over':
      return handOver(pair, command, namespace)
    case 'expire':
    case 'leave':
      return everywhere.map((place) => [command, place])
    default:
      return [[command, placeOf(command)]]
  }
}

function handOver(
  { world }: Pair,
  { key, success }: HandOver,
  namespace: Namespace,
): readonly (readonly [KeyCommand, Place])[] {
  const [hold] = world.state(namespace, key).holds
  if (hold === undefined) return []
  const { owner, operation } = hold
  const place = { namespace, key }
  if (operation === undefined) return [[{ kind: 'release', key, owner }, place]]
  const { type, node } = operation
  return [[{ kind: 'finish', type, node, resource: key, success, value: '3' }, place]]
}

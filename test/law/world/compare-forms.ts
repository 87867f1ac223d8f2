import { isDeepStrictEqual } from 'node:util'
import type { KeyCommand } from '../../../src/law/model/commands.ts'
import { type Decision, decideInFull } from '../../../src/law/decide.ts'
import { decideFast } from '../../../src/law/fast-path.ts'
import { PlainView } from './plain-view.ts'
import type { Place, PlainWorld } from './plain-world.ts'

export interface Asked {
  readonly command: KeyCommand
  readonly nowMs: number
  readonly place: Place
}

/** Throws where the short form of the law says anything else than the whole. Returns whether it spoke. */
export function compareForms(world: PlainWorld, { command, nowMs, place }: Asked): boolean {
  const state = world.state(place.namespace, place.key)
  const view = new PlainView(state, world)
  const short = decideFast(view, command, nowMs)
  if (short === undefined) return false
  const whole = decideInFull(view, command, nowMs)
  if (isDeepStrictEqual(toPlain(short), toPlain(whole))) return true
  throw new Error(`short form:\n${describe(short)}\nthe whole law:\n${describe(whole)}`)
}

function toPlain({ changes, outcome, events }: Decision): Decision {
  return { changes, outcome: { ...outcome }, events: [...events] }
}

function describe(decision: Decision): string {
  return JSON.stringify(toPlain(decision), undefined, 2)
}

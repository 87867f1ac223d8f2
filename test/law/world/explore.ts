import type { KeyCommand } from '../../../src/law/model/commands.ts'
import { decide, type Law } from '../../../src/law/decide.ts'
import type { LawSettings } from '../../../src/law/model/settings.ts'
import type { Namespace } from '../../../src/law/model/view.ts'
import { NaiveModel } from '../naive/naive-model.ts'
import { type NamingOptions, nameStates } from './name-state.ts'
import type { KeyState } from './plain-view.ts'
import { type Place, PlainWorld, placeOf } from './plain-world.ts'
import { type Pair, runBoth } from '../naive/run-both.ts'

/** Time passes and nobody is asked; what is due is found by the next command. */
export interface Tick {
  readonly kind: 'tick'
  readonly ms: number
}

export type ExploredCommand = KeyCommand | Tick

export interface Scope {
  readonly name: string
  readonly namespace: Namespace
  readonly settings?: Partial<LawSettings>
  readonly depth: number
  /** One key is `a`; where several matter, all of them are named. */
  readonly keys?: readonly string[]
  /** Commands that lead to the state from which the exploration sets out. */
  readonly prefix?: readonly ExploredCommand[]
  /** What can be asked in this state. `serial` is new at every depth, for names never used before. */
  commands(states: readonly KeyState[], serial: number): readonly ExploredCommand[]
  /** States with the same name have the same future. */
  readonly naming: NamingOptions
}

export interface Explored {
  readonly states: number
  readonly transitions: number
}

/** How a state was reached; the states on the way are not kept. */
interface Way {
  readonly before: Way | undefined
  readonly command: ExploredCommand
}

interface Node extends Pair {
  readonly nowMs: number
  readonly way: Way | undefined
}

/** Visits every state within the depth, and compares law and model on every way there. */
export function explore(scope: Scope, law: Law = decide): Explored {
  const { settings = {}, prefix = [] } = scope
  const empty: Node = {
    world: new PlainWorld({ settings, law }),
    model: new NaiveModel(settings),
    nowMs: 1_000_000,
    way: undefined,
  }
  const start = prefix.reduce((node, command) => advance(scope, node, command), empty)
  const seen = new Set([nameOf(scope, start)])
  let frontier: Node[] = [start]
  let transitions = 0
  for (let depth = 1; depth <= scope.depth; depth += 1) {
    const found: Node[] = []
    for (const reached of neighbours(scope, frontier, prefix.length + depth)) {
      const name = nameOf(scope, reached)
      if (depth < scope.depth && !seen.has(name)) found.push(reached)
      seen.add(name)
      transitions += 1
    }
    frontier = found
  }
  return { states: seen.size, transitions }
}

/** Every state that one command leads to. */
function* neighbours(scope: Scope, nodes: readonly Node[], serial: number): Generator<Node, void> {
  for (const node of nodes) {
    const commands = scope.commands(statesOf(scope, node), serial)
    for (const command of commands) yield advance(scope, node, command)
  }
}

function placeIn(scope: Scope, command: KeyCommand): Place {
  const isAnywhere = ['expire', 'leave', 'hang-up', 'entrust'].includes(command.kind)
  return isAnywhere ? { namespace: scope.namespace, key: 'a' } : placeOf(command)
}

function statesOf(scope: Scope, node: Node): readonly KeyState[] {
  return (scope.keys ?? ['a']).map((key) => node.world.state(scope.namespace, key))
}

function nameOf(scope: Scope, node: Node): string {
  return nameStates(statesOf(scope, node), node.nowMs, scope.naming)
}

function advance(scope: Scope, node: Node, command: ExploredCommand): Node {
  const { nowMs } = node
  const way: Way = { before: node.way, command }
  if (command.kind === 'tick') return { ...node, nowMs: nowMs + command.ms, way }
  const reached: Node = { world: node.world.copy(), model: node.model.copy(), nowMs, way }
  try {
    runBoth(reached, command, { nowMs, place: placeIn(scope, command) })
  } catch (cause) {
    throw new Error(`${String(cause)}\nafter\n${story(way)}`, { cause })
  }
  return reached
}

/** The commands that led here, one per line. */
function story(way: Way): string {
  const lines: string[] = []
  for (let at: Way | undefined = way; at; at = at.before) lines.unshift(JSON.stringify(at.command))
  return lines.join('\n')
}

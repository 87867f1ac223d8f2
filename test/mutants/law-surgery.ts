import type { Change } from '../../src/law/model/changes.ts'
import type { KeyCommand } from '../../src/law/model/commands.ts'
import { type Decision, decide, type Law } from '../../src/law/decide.ts'
import type { Outcome } from '../../src/law/model/outcomes.ts'
import type { Hold, KeyView } from '../../src/law/model/view.ts'

type Kind = KeyCommand['kind']
type Of<K extends Kind> = Extract<KeyCommand, { kind: K }>

/** The same key, seen differently in a few respects. */
export function seeing(view: KeyView, other: Partial<KeyView>): KeyView {
  const graph = view.graph && {
    isWaiting: (party: string) => view.graph?.isWaiting(party) ?? false,
    waitsOf: (party: string) => view.graph?.waitsOf(party) ?? [],
    isEntangled: () => view.graph?.isEntangled(view) ?? false,
    entangled: () => view.graph?.entangled(view) ?? [],
  }
  const overrides: Partial<KeyView> = { graph, ...other }
  return new Proxy(view, {
    get: (target, name) => {
      if (name in overrides) return overrides[name as keyof KeyView]
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** A law that looks at the key with other eyes when it decides these commands. */
export function blindTo<K extends Kind>(
  kinds: readonly K[],
  see: (view: KeyView, command: Of<K>, nowMs: number) => Partial<KeyView>,
): () => Law {
  return () => (view, command, nowMs) => {
    if (!isOneOf(command, kinds)) return decide(view, command, nowMs)
    return decide(seeing(view, see(view, command, nowMs)), command, nowMs)
  }
}

/** A law that is handed another command than the one that was given. */
export function mistaking<K extends Kind>(
  kind: K,
  mistake: (command: Of<K>, view: KeyView) => KeyCommand,
): () => Law {
  return () => (view, command, nowMs) => {
    if (!isOneOf(command, [kind])) return decide(view, command, nowMs)
    return decide(view, mistake(command, view), nowMs)
  }
}

/** A law whose decisions on these commands are changed afterwards. */
export function altering<K extends Kind>(
  kinds: readonly K[],
  alter: (decision: Decision, command: Of<K>, view: KeyView) => Partial<Decision>,
): () => Law {
  return () => (view, command, nowMs) => {
    const decision = decide(view, command, nowMs)
    if (!isOneOf(command, kinds)) return decision
    return { ...decision, ...alter(decision, command, view) }
  }
}

/** Every change except those of one kind. */
export function without(changes: readonly Change[], kind: Change['kind']): Change[] {
  return changes.filter((change) => change.kind !== kind)
}

/** Every hold that the changes set, altered. */
export function alterHolds(changes: readonly Change[], alter: (hold: Hold) => Hold): Change[] {
  return changes.map((change) =>
    change.kind === 'hold-set' ? { ...change, hold: alter(change.hold) } : change,
  )
}

/** The outcome with another token, and the holds that carry it too. */
export function withToken(decision: Decision, token: number): Partial<Decision> {
  const outcome: Outcome =
    decision.outcome.kind === 'granted' ? { ...decision.outcome, token } : decision.outcome
  return { outcome, changes: alterHolds(decision.changes, (hold) => ({ ...hold, token })) }
}

function isOneOf<K extends Kind>(command: KeyCommand, kinds: readonly K[]): command is Of<K> {
  return kinds.some((kind) => kind === command.kind)
}

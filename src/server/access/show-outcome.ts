import type { Command } from '../../law/model/commands.ts'
import type { HolderShown, Outcome, Refused } from '../../law/model/outcomes.ts'
import type { Namespace } from '../../law/model/view.ts'
import type { PrincipalView } from './principal-view.ts'

/** An outcome with the names that its principal knows. Most have none. */
export function showOutcome(view: PrincipalView, command: Command, outcome: Outcome): Outcome {
  if (outcome.kind === 'dissolved') return { ...outcome, node: view.toShown(outcome.node) }
  if (outcome.kind !== 'refused') return outcome
  const namespace = command.kind === 'begin' ? 'operation' : 'lock'
  return showRefusal(view, outcome, namespace)
}

function showRefusal(view: PrincipalView, refused: Refused, namespace: Namespace): Refused {
  const { holders, cycle, nodes } = refused
  if (holders === undefined && cycle === undefined && nodes === undefined) return refused
  const showHolder = (holder: HolderShown): HolderShown => ({
    ...holder,
    owner: view.toShownOwner(holder.owner, namespace),
  })
  return {
    ...refused,
    ...(holders === undefined ? {} : { holders: holders.map(showHolder) }),
    ...(cycle === undefined ? {} : { cycle: cycle.map((party) => view.toShown(party)) }),
    ...(nodes === undefined ? {} : { nodes: nodes.map((node) => view.toShown(node)) }),
  }
}

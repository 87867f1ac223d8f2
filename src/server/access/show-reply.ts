import type { HolderReply, InspectReply, StandingReply, WaiterReply } from '../../engine/queries.ts'
import type { Namespace } from '../../law/model/view.ts'
import type { PrincipalView } from './principal-view.ts'

/** Replies of the engine with the names that a principal knows. */
export function showInspect(view: PrincipalView, reply: InspectReply): InspectReply {
  const { namespace, holders, queue, references, remembered } = reply
  return {
    ...reply,
    holders: holders.map((one) => showHolder(view, one, namespace)),
    queue: queue.map((one) => showWaiter(view, one, namespace)),
    references: references.map((node) => view.toShown(node)),
    remembered: remembered.map((one) => ({ ...one, node: view.toShown(one.node) })),
  }
}

export function showStanding(
  view: PrincipalView,
  { holder, waiting }: StandingReply,
  namespace: Namespace,
): StandingReply {
  return {
    holder: holder === null ? null : showHolder(view, holder, namespace),
    waiting: waiting.map((one) => showWaiter(view, one, namespace)),
  }
}

function showHolder(view: PrincipalView, holder: HolderReply, namespace: Namespace): HolderReply {
  return { ...holder, ...view.showNames(holder, namespace) }
}

function showWaiter(view: PrincipalView, waiter: WaiterReply, namespace: Namespace): WaiterReply {
  const { requestId } = waiter
  return { ...waiter, requestId, ...view.showNames(waiter, namespace) } as WaiterReply
}

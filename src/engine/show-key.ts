import { leaseAtMsOf } from '../law/hold-steps.ts'
import type { Hold, KeyView, Reference, Remembered, Waiter } from '../law/model/view.ts'
import type { HolderReply, ReferencesReply, RememberedReply, WaiterReply } from './queries.ts'

/** What queries show of a key, the same from every engine. */

export function showHolder(view: KeyView, hold: Hold, nowMs: number): HolderReply {
  return {
    owner: hold.owner,
    mode: hold.writes > 0 ? 'write' : 'read',
    reads: hold.reads,
    writes: hold.writes,
    token: hold.token,
    heldMs: nowMs - hold.sinceMs,
    leaseMs: leaseAtMsOf(view, hold) - nowMs,
    session: hold.session,
    meta: hold.meta,
    type: hold.operation?.type,
    node: hold.operation?.node,
    version: hold.operation?.version,
  }
}

/** A free key has none: engines count tokens for many keys together. */
export function showToken(holds: Iterable<Hold>): number | null {
  let highest: number | null = null
  for (const { token } of holds) if (highest === null || token > highest) highest = token
  return highest
}

export function showWaiter(
  view: KeyView,
  waiter: Waiter,
  { position, nowMs }: { readonly position: number; readonly nowMs: number },
): WaiterReply {
  return {
    owner: waiter.owner,
    requestId: waiter.requestId,
    mode: waiter.mode,
    position,
    waitedMs: nowMs - waiter.sinceMs,
    upgrade: waiter.upgrade,
    lane: view.settings.lanes[waiter.lane],
    session: waiter.session,
    type: waiter.operation?.type,
    node: waiter.operation?.node,
    version: waiter.operation?.version,
  }
}

export function showRemembered(remembered: Remembered, nowMs: number): RememberedReply {
  const { type, version, node, value, atMs, replayOnly } = remembered
  return { type, version, node, value, agoMs: nowMs - atMs, skips: !replayOnly }
}

export function showReferences(resource: string, references: Iterable<Reference>): ReferencesReply {
  const nodes: string[] = []
  const unclaimed: string[] = []
  for (const { node, claimByMs } of references) {
    nodes.push(node)
    if (claimByMs !== null) unclaimed.push(node)
  }
  return { resource, nodes, unclaimed }
}

import type { Draft } from './draft.ts'
import { ENDED_REMEMBERED_MS, TYPES_PER_RESOURCE_MAX } from './model/limits.ts'
import type { Refused, Skip } from './model/outcomes.ts'
import type { LawSettings } from './model/settings.ts'
import type { OperationFacts } from './model/view.ts'

/**
 * What an operation is answered instead of the lock: that the resource is in use, or that the work is
 * already done. Decided when it asks, and again when it reaches the head of the queue.
 */
export function decideOperationHead(
  draft: Draft,
  asker: OperationAsker,
): Refused | Skip | undefined {
  const { operation } = asker
  return refuseInUse(draft, operation) ?? refuseCrowded(draft, operation) ?? skipDone(draft, asker)
}

/** An operation that asks, or one that waits. */
export interface OperationAsker {
  readonly operation: OperationFacts
  /** Whether its node is told of the answer without asking again. */
  readonly isTold: boolean
}

/** Under every coordination, what a node references is not taken away from it. */
function refuseInUse(draft: Draft, facts: OperationFacts): Refused | undefined {
  const needsNoReference =
    facts.type === 'delete' || (facts.type === 'update' && draft.view.settings.updateRequiresNoRef)
  if (!needsNoReference || draft.resource.referenceCount === 0) return undefined
  return { kind: 'refused', code: 'in_use', nodes: draft.resource.nodes() }
}

/** What it would leave behind has no place any more: one more node, or one more kind of work done. */
function refuseCrowded(draft: Draft, facts: OperationFacts): Refused | undefined {
  const { resource } = draft
  const { type, coordination } = facts
  if (coordination === 'mutex' || type === 'delete') return undefined
  if (resource.remembered(type) === undefined && resource.typeCount >= TYPES_PER_RESOURCE_MAX) {
    return refuseOver(`a resource remembers at most ${TYPES_PER_RESOURCE_MAX} types`)
  }
  return refuseReference(draft, facts)
}

/** A pull of a node that the resource cannot be kept for as well. */
export function refuseReference(draft: Draft, facts: OperationFacts): Refused | undefined {
  if (facts.type !== 'pull' || facts.coordination !== 'server') return undefined
  const { referencesPerResourceMax } = draft.view.settings
  if (draft.resource.referenceCount < referencesPerResourceMax) return undefined
  if (draft.resource.reference(facts.node) !== undefined) return undefined
  return refuseOver(`a resource is kept for at most ${referencesPerResourceMax} nodes`)
}

function refuseOver(detail: string): Refused {
  return { kind: 'refused', code: 'limit', detail }
}

/** While a delete runs no request skips: what it would skip is about to vanish. */
function skipDone(draft: Draft, asker: OperationAsker): Skip | undefined {
  const facts = asker.operation
  if (facts.coordination !== 'server') return undefined
  if (draft.writer?.operation?.type === 'delete') return undefined
  const done = draft.resource.remembered(facts.type)
  if (done === undefined || done.replayOnly || done.untilMs <= draft.nowMs) return undefined
  if (done.version !== facts.version) return undefined
  return skip(draft, asker, done.value)
}

/**
 * A skipped pull counts a reference: its node is using the resource. A node that has to ask in order to learn
 * of it may have died; it loses the reference when it would have lost its place in the queue, but not while
 * a late copy of its request is still answered `skip`.
 */
export function skip(
  draft: Draft,
  { operation, isTold }: OperationAsker,
  value: string | undefined,
): Skip {
  const { type, node } = operation
  if (type === 'pull') {
    const claimByMs = isTold ? null : draft.nowMs + referencePatienceMs(draft.view.settings)
    draft.resource.addReference({ node, claimByMs })
  }
  return { kind: 'skip', value }
}

/** How long a node that has to ask keeps the reference that it does not know of. */
export function referencePatienceMs({ waiterPatienceMs }: LawSettings): number {
  return Math.max(waiterPatienceMs, ENDED_REMEMBERED_MS)
}

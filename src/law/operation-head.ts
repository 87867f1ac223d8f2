import type { Draft } from './draft.ts'
import { TYPES_PER_RESOURCE_MAX } from './limits.ts'
import type { Refused, Skip } from './outcomes.ts'
import type { OperationFacts } from './view.ts'

/**
 * What an operation is answered instead of the lock: that the resource is in use, or that the work is
 * already done. Decided when it asks, and again when it reaches the head of the queue.
 */
export function decideOperationHead(
  draft: Draft,
  facts: OperationFacts,
): Refused | Skip | undefined {
  return refuseInUse(draft, facts) ?? refuseCrowded(draft, facts) ?? skipDone(draft, facts)
}

/** Whoever coordinates: what some node counts on is not taken away from it. */
function refuseInUse(draft: Draft, facts: OperationFacts): Refused | undefined {
  const needsNoReference =
    facts.type === 'delete' || (facts.type === 'update' && draft.view.settings.updateRequiresNoRef)
  if (!needsNoReference || draft.resource.referenceCount === 0) return undefined
  return { kind: 'refused', code: 'in_use', nodes: draft.resource.references() }
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
  if (draft.resource.hasReference(facts.node)) return undefined
  return refuseOver(`a resource is kept for at most ${referencesPerResourceMax} nodes`)
}

function refuseOver(detail: string): Refused {
  return { kind: 'refused', code: 'limit', detail }
}

/** While a delete runs nobody skips: what it would skip is about to vanish. */
function skipDone(draft: Draft, facts: OperationFacts): Skip | undefined {
  if (facts.coordination !== 'server') return undefined
  if (draft.writer?.operation?.type === 'delete') return undefined
  const done = draft.resource.remembered(facts.type)
  if (done === undefined || done.replayOnly || done.untilMs <= draft.nowMs) return undefined
  if (done.version !== facts.version) return undefined
  return skip(draft, facts, done.value)
}

/** A skipped pull counts a reference: its node is using the resource. */
export function skip(draft: Draft, facts: OperationFacts, value: string | undefined): Skip {
  if (facts.type === 'pull') draft.resource.addReference(facts.node)
  return { kind: 'skip', value }
}

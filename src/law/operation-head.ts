import type { Draft } from './draft.ts'
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
  if (facts.coordination !== 'server') return undefined
  return refuseInUse(draft, facts) ?? skipDone(draft, facts)
}

function refuseInUse(draft: Draft, facts: OperationFacts): Refused | undefined {
  const needsNoReference =
    facts.type === 'delete' || (facts.type === 'update' && draft.view.settings.updateRequiresNoRef)
  if (!needsNoReference || draft.resource.referenceCount === 0) return undefined
  return { kind: 'refused', code: 'in_use', nodes: draft.resource.references() }
}

/** While a delete runs nobody skips: what it would skip is about to vanish. */
function skipDone(draft: Draft, facts: OperationFacts): Skip | undefined {
  if (draft.writer?.operation?.type === 'delete') return undefined
  const done = draft.resource.remembered(facts.type)
  if (done === undefined || done.replayOnly || done.untilMs <= draft.nowMs) return undefined
  if (!isSameVersion(done.version, facts.version)) return undefined
  return skip(draft, facts, done.value)
}

/** A skipped pull counts a reference: its node is using the resource. */
export function skip(draft: Draft, facts: OperationFacts, value: string | undefined): Skip {
  if (facts.type === 'pull') draft.resource.addReference(facts.node)
  return { kind: 'skip', value }
}

/** None given counts as the same. */
export function isSameVersion(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other
}

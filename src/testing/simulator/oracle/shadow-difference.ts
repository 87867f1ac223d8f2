import type { Hold, KeyView } from '../../../law/model/view.ts'
import { describeHold, type ShadowKey } from './shadow-key.ts'

/** How a key of the engine differs from what the decisions have made of it, if it does. */
export function findDifference(view: KeyView, key: ShadowKey): string | undefined {
  const shown = Array.from(view.holds(), describeView).sort()
  const expected = Array.from(key.holds.values(), describeHold).sort()
  const isSame =
    shown.length === expected.length &&
    shown.every((text, index) => text === expected[index]) &&
    view.holdCount === key.holds.size &&
    view.queueLength === key.waiters.length &&
    view.referenceCount === key.references.size
  if (isSame) return undefined
  const counts = `${view.queueLength} of ${key.waiters.length} waiters`
  const references = `${view.referenceCount} of ${key.references.size} references`
  const holds = `${shown.join(', ')} instead of ${expected.join(', ')}`
  return `${key.subject}: the engine shows ${holds}; ${counts}, ${references}`
}

function describeView({ owner, reads, writes, token, session, operation }: Hold): string {
  const { type, version } = operation ?? {}
  return describeHold({ owner, reads, writes, token, session, type, version })
}

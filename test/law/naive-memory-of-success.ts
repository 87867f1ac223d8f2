import { TYPES_PER_RESOURCE_MAX } from '../../src/law/limits.ts'
import type { Outcome } from '../../src/law/outcomes.ts'
import type { NaiveFacts, NaiveWaiter, Turn } from './naive-state.ts'

/** Steps 2 and 3 of beginning an operation: is it in use, is it done already? Section 6. */

export function isSameVersion(left: string | undefined, right: string | undefined): boolean {
  return left === right
}

export function addReference(turn: Turn, facts: NaiveFacts): void {
  if (facts.type !== 'pull' || turn.key.refs.includes(facts.node)) return
  turn.key.refs.push(facts.node)
}

/** A success is remembered for its time and no longer, whatever is asked then. */
export function forgetOldSuccesses({ key, now }: Turn): void {
  key.successes = key.successes.filter((success) => success.until > now)
}

function needsNoReference(turn: Turn, type: string): boolean {
  return type === 'delete' || (type === 'update' && turn.world.settings.updateRequiresNoRef)
}

/** Whether one more node cannot be counted for a resource. */
export function isOneTooMany(
  { key, world }: Turn,
  { type, node, coordination }: NaiveFacts,
): boolean {
  if (type !== 'pull' || coordination !== 'server' || key.refs.includes(node)) return false
  return key.refs.length >= world.settings.referencesPerResourceMax
}

/** Whether what the work would leave cannot be kept. A delete leaves less, and a mutex nothing. */
function hasNoPlace(turn: Turn, facts: NaiveFacts): boolean {
  if (facts.coordination === 'mutex' || facts.type === 'delete') return false
  const types = turn.key.successes.map((success) => success.type)
  const isNew = !types.includes(facts.type)
  return (isNew && types.length >= TYPES_PER_RESOURCE_MAX) || isOneTooMany(turn, facts)
}

/** The answer that spares the work, or `undefined` if the work is to be done. */
function verdictFor(turn: Turn, facts: NaiveFacts): Outcome | undefined {
  const { key } = turn
  if (needsNoReference(turn, facts.type) && key.refs.length > 0) {
    return { kind: 'refused', code: 'in_use', nodes: [...key.refs] }
  }
  if (hasNoPlace(turn, facts)) return { kind: 'refused', code: 'limit' }
  if (facts.coordination !== 'server') return undefined
  const isDeleting = key.holds.some((hold) => hold.facts?.type === 'delete')
  const done = key.successes.find(
    (success) => success.type === facts.type && isSameVersion(success.version, facts.version),
  )
  if (done === undefined || isDeleting) return undefined
  addReference(turn, facts)
  return { kind: 'skip', value: done.value }
}

export function verdictAtHead(turn: Turn, waiter: NaiveWaiter): Outcome | undefined {
  return waiter.facts && verdictFor(turn, waiter.facts)
}

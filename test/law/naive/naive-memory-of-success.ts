import { ENDED_REMEMBERED_MS, TYPES_PER_RESOURCE_MAX } from '../../../src/law/model/limits.ts'
import type { Outcome } from '../../../src/law/model/outcomes.ts'
import type { NaiveFacts, NaiveWaiter, Turn } from './naive-state.ts'

/** Steps 2 and 3 of beginning an operation: is it in use, is it done already? Section 6. */

export function isSameVersion(left: string | undefined, right: string | undefined): boolean {
  return left === right
}

/** A node that is not told of it has to come for it before it would have left the queue. */
export function addReference(turn: Turn, { type, node }: NaiveFacts, isTold: boolean): void {
  if (type !== 'pull') return
  const { waiterPatienceMs } = turn.world.settings
  const claimBy = isTold ? null : turn.now + Math.max(waiterPatienceMs, ENDED_REMEMBERED_MS)
  const known = turn.key.refs.find((ref) => ref.node === node)
  if (known === undefined) turn.key.refs.push({ node, claimBy })
  else if (known.claimBy !== null) known.claimBy = claimBy
}

/** A node that hears once more that it skips knows that it uses the resource, if it still does. */
export function claimReference({ key }: Turn, node: string): void {
  for (const ref of key.refs) if (ref.node === node) ref.claimBy = null
}

/** Successes and unclaimed references are kept for their time and no longer, whatever is asked then. */
export function forgetOld({ key, now }: Turn): void {
  key.successes = key.successes.filter((success) => success.until > now)
  key.refs = key.refs.filter((ref) => ref.claimBy === null || ref.claimBy > now)
}

function needsNoReference(turn: Turn, type: string): boolean {
  return type === 'delete' || (type === 'update' && turn.world.settings.updateRequiresNoRef)
}

/** Whether one more node cannot be counted for a resource. */
export function isOneTooMany(
  { key, world }: Turn,
  { type, node, coordination }: NaiveFacts,
): boolean {
  if (type !== 'pull' || coordination !== 'server') return false
  if (key.refs.some((ref) => ref.node === node)) return false
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
function verdictFor(turn: Turn, facts: NaiveFacts, isTold: boolean): Outcome | undefined {
  const { key } = turn
  if (needsNoReference(turn, facts.type) && key.refs.length > 0) {
    return { kind: 'refused', code: 'in_use', nodes: key.refs.map((ref) => ref.node) }
  }
  if (hasNoPlace(turn, facts)) return { kind: 'refused', code: 'limit' }
  if (facts.coordination !== 'server') return undefined
  const isDeleting = key.holds.some((hold) => hold.facts?.type === 'delete')
  const done = key.successes.find(
    (success) => success.type === facts.type && isSameVersion(success.version, facts.version),
  )
  if (done === undefined || isDeleting) return undefined
  addReference(turn, facts, isTold)
  return { kind: 'skip', value: done.value }
}

/** For a node that asks, which is told at once, and for a waiter, which may have to ask. */
export function verdictAtHead(
  turn: Turn,
  { facts, connected }: NaiveWaiter,
  isAsking = false,
): Outcome | undefined {
  return facts && verdictFor(turn, facts, isAsking || connected)
}

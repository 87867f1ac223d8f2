import { toInvalidArgument } from '../../engine/errors/engine-errors.ts'
import type { LockEngine } from '../../engine/engine.ts'
import type { InspectReply, RememberedReply } from '../../engine/queries.ts'
import { problemWith } from '../../engine/validation/validate.ts'
import type { LawSettings } from '../../law/model/settings.ts'

/** What a client looks at: a type of operation on a resource, perhaps as one node sees it. */
export interface Subject {
  readonly type: string
  readonly resource: string
  readonly node?: string | undefined
  readonly version?: string | undefined
}

/** For calls that only read, and so never show the law what they were asked; throws where it is wrong. */
export function checkSubject({ type, resource, node = 'any' }: Subject): void {
  const command = { kind: 'begin', type, resource, node } as const
  const problem = problemWith(command)
  if (problem !== undefined) throw toInvalidArgument(command, problem)
}

export function inspectResource(engine: LockEngine, resource: string): Promise<InspectReply> {
  return engine.read({ kind: 'inspect', namespace: 'operation', key: resource })
}

/**
 * The success because of which a node that asks now would be answered `skip`, if there is one. The law
 * decides that when a node asks; this is for a client that only looks, or names no node.
 */
export function successToSkip(
  state: InspectReply,
  subject: Subject,
  settings: LawSettings,
): RememberedReply | undefined {
  if (settings.coordination !== 'server') return undefined
  const success = successInForce(state, subject.type, settings)
  return success?.version === subject.version ? success : undefined
}

/** The remembered success of a type, of any version, unless nothing is skipped at the moment. */
function successInForce(
  state: InspectReply,
  type: string,
  settings: LawSettings,
): RememberedReply | undefined {
  if (state.holders.some((holder) => holder.type === 'delete')) return undefined
  const needsNoReference = type === 'update' && settings.updateRequiresNoRef
  if (needsNoReference && state.references.length > 0) return undefined
  return state.remembered.find((one) => one.skips && one.type === type)
}

/**
 * The success that a listener is told of first, because it may have come between asking and listening. A
 * listener names a type and no version, so it hears of every version, here as later. In `client` a success
 * is kept for listeners alone, and told while the resource is free. In `mutex` no listener is told: the next
 * waiter is granted.
 */
export function successToReplay(
  state: InspectReply,
  subject: Subject,
  settings: LawSettings,
): RememberedReply | undefined {
  if (settings.coordination === 'server') return successInForce(state, subject.type, settings)
  if (settings.coordination === 'mutex' || state.holders.length > 0) return undefined
  const last = state.remembered.find((one) => one.type === subject.type)
  return last === undefined || isUndone(state, last) ? undefined : last
}

/** What a delete took away is done no more, and neither is a delete of what has been made anew. */
function isUndone(state: InspectReply, success: RememberedReply): boolean {
  const isDelete = success.type === 'delete'
  return state.remembered.some(
    (later) => (later.type === 'delete') !== isDelete && later.agoMs < success.agoMs,
  )
}

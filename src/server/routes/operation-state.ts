import type { LockEngine } from '../../engine/engine.ts'
import type { InspectReply, RememberedReply } from '../../engine/queries.ts'
import { isSameVersion } from '../../law/operation-head.ts'
import type { LawSettings } from '../../law/settings.ts'
import type { Subject } from './operation-names.ts'

export function inspectResource(engine: LockEngine, resource: string): Promise<InspectReply> {
  return engine.read({ kind: 'inspect', namespace: 'operation', key: resource })
}

/**
 * The success because of which asking would be answered `skip`, if there is one. The law decides that
 * when somebody asks; this is for those who only look, or who cannot say who they are.
 */
export function successToSkip(
  state: InspectReply,
  subject: Subject,
  settings: LawSettings,
): RememberedReply | undefined {
  if (settings.coordination !== 'server') return undefined
  const { type, version } = subject
  if (state.holders.some((holder) => holder.type === 'delete')) return undefined
  const needsNoReference = type === 'update' && settings.updateRequiresNoRef
  if (needsNoReference && state.references.length > 0) return undefined
  return state.remembered.find(
    (one) => one.skips && one.type === type && isSameVersion(one.version, version),
  )
}

/**
 * The success that a listener is told of first, because it may have come between asking and listening.
 * In `client` it is kept for that alone, and told while the resource is free. In `mutex` nobody is told:
 * whoever waits is granted.
 */
export function successToReplay(
  state: InspectReply,
  subject: Subject,
  settings: LawSettings,
): RememberedReply | undefined {
  if (settings.coordination === 'server') return successToSkip(state, subject, settings)
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

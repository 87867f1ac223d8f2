import type { WatchEvent } from '../../engine/engine.ts'
import type { Coordination } from '../../law/model/settings.ts'
import type { OperationEventBody } from '../../wire/json/operation-body.ts'

/**
 * What those who listen on a type of operation are told of it.
 *
 * - `succeeded`: it was done, by this node. `failed`: it was not, and no node waits.
 * - `granted`: this node has the lock now. `turned-away`: this node waited and is refused.
 * - `reset`: something may have been missed.
 */
export interface OperationNews {
  readonly id: string
  readonly kind: 'succeeded' | 'failed' | 'granted' | 'turned-away' | 'reset'
  readonly type: string
  readonly node: string
  readonly error: string
  readonly token?: number | undefined
  /** Time of day. */
  readonly atMs: number
}

/** An event with its id in the streams of this server. */
export interface StreamedEvent {
  readonly id: string
  readonly event: WatchEvent
}

/** The news in consecutive events of one resource. */
export function toNews(
  events: readonly StreamedEvent[],
  coordination: Coordination,
): OperationNews[] {
  return events.flatMap((numbered, index) => {
    const news = toNewsOfEvent(numbered)
    if (news === undefined) return []
    const isQuiet =
      news.kind === 'failed' || (news.kind === 'succeeded' && coordination === 'mutex')
    return isQuiet && isHandedOn(events, index) ? [] : [news]
  })
}

/**
 * Whether an end gave the lock to the next one. Then the grant is all that is told: a client that hears
 * of a success leaves, and its grant would be lost.
 */
function isHandedOn(events: readonly StreamedEvent[], ended: number): boolean {
  for (const { event } of events.slice(ended + 1)) {
    if (event.kind === 'granted') return true
    // Those who are turned away on the way to the next.
    if (event.kind !== 'cancelled') return false
  }
  return false
}

function toNewsOfEvent({ id, event }: StreamedEvent): OperationNews | undefined {
  const { atMs } = event
  if (event.kind === 'reset') return { id, kind: 'reset', type: '', node: '', error: '', atMs }
  const { type = '', node = '', token } = event
  switch (event.kind) {
    case 'completed':
      return event.success === true
        ? { id, kind: 'succeeded', type, node, error: '', atMs }
        : { id, kind: 'failed', type, node, error: sayFailure(event), atMs }
    case 'granted':
      return { id, kind: 'granted', type, node, error: '', token, atMs }
    case 'cancelled':
      if (event.code !== 'in_use') return undefined
      return { id, kind: 'turned-away', type, node, error: 'nodes are using the resource', atMs }
    default:
      return undefined
  }
}

/** Never empty: a failure without a reason would read as a grant. */
function sayFailure({ error = '' }: Extract<WatchEvent, { key: string }>): string {
  return error === '' ? 'the operation failed' : error
}

/** As it is sent. `toShown` gives a node the name that the listener knows it by. */
export function toEventBody(
  news: OperationNews,
  resource: string,
  toShown: (name: string) => string,
): OperationEventBody {
  const { kind, type, node, error, token, atMs } = news
  return {
    type,
    resource_id: resource,
    node_id: toShown(node),
    success: kind === 'succeeded',
    error,
    completed_at: new Date(atMs).toISOString(),
    ...(kind === 'granted' ? { granted: true, ...(token === undefined ? {} : { token }) } : {}),
    ...(kind === 'reset' ? { reset: true } : {}),
  }
}

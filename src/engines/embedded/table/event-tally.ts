import type { EventCount, EventCounts } from '../../../engine/queries.ts'
import type { LawEvent } from '../../../law/model/events.ts'
import type { Namespace } from '../../../law/model/view.ts'

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

interface Tally extends Mutable<Omit<EventCount, 'refusals'>> {
  readonly refusals: Mutable<EventCount['refusals']>
}

/** The events of a table, counted as they are decided: a number each, also while nothing watches. */
export type EventTally = Readonly<Record<Namespace, Tally>>

export function createTally(): Tally {
  return {
    granted: 0,
    queued: 0,
    released: 0,
    expired: 0,
    cancelled: 0,
    disconnected: 0,
    forced: 0,
    refused: 0,
    completed: 0,
    refusals: {},
  }
}

export function countEvent(tally: EventTally, { kind, namespace, code }: LawEvent): void {
  const counts = tally[namespace]
  counts[kind] += 1
  if (kind !== 'refused' || code === undefined) return
  counts.refusals[code] = (counts.refusals[code] ?? 0) + 1
}

export function copyTally({ lock, operation }: EventTally): EventCounts {
  return {
    lock: { ...lock, refusals: { ...lock.refusals } },
    operation: { ...operation, refusals: { ...operation.refusals } },
  }
}

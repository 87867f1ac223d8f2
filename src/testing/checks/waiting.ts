import type { HistoryEntry, HistoryMark } from '../history.ts'
import type { CheckSettings } from './check-options.ts'
import type { LockRequest } from './requests/requests.ts'
import { answerOf } from './requests/requests.ts'

/** What decides whether somebody who was once told `queued` still has that place. */
export interface WaitingContext {
  readonly marks: readonly HistoryMark[]
  readonly settings: CheckSettings
}

/**
 * Whether a waiter may have lost its place by the given instant without a word: its connection
 * broke, its answer was lost, it was silent for too long, or the engine forgot its queue.
 */
export function mayHaveLeft(waiter: LockRequest, by: number, context: WaitingContext): boolean {
  const { marks, settings } = context
  const first = waiter.entries[0] as HistoryEntry
  const isUnsure = waiter.entries.some((entry, index) => {
    const nextCall = Math.min(waiter.entries[index + 1]?.call ?? Infinity, by)
    if (entry.outcome === 'info') return entry.call < by
    // Who is told to ask again was heard of at some time before that, perhaps as soon as it asked.
    const heardAt = answerOf(entry) === 'queued' ? entry.call : entry.ret
    return nextCall - heardAt >= settings.waiterSilenceMs
  })
  if (isUnsure || by > first.call + (first.waitMs ?? Infinity)) return true
  return marks.some(({ name, at, proc, session }) => {
    if (at < first.call || at > by) return false
    if (name === 'crash' || name === 'restart') return !settings.queueSurvivesRestart
    if (name !== 'disconnect' && name !== 'silence') return false
    return session === undefined ? proc === first.proc : session === first.session
  })
}

import type { HistoryEntry } from '../../history.ts'
import { ownerOf, subjectOf } from '../subject.ts'

/**
 * One logical request for a lock or an operation: an `acquire` or `begin` with all its retries and
 * polls. Entries belong together by key, owner and request id; an entry without an id stands for
 * itself, except that a `begin` goes by its owner, as the law has it, until what it made ended.
 */
export interface LockRequest {
  readonly subject: string
  readonly key: string
  readonly op: 'acquire' | 'begin'
  readonly owner: string
  readonly mode: 'read' | 'write'
  readonly lane: string | undefined
  /** By call. */
  readonly entries: readonly HistoryEntry[]
  /** When it was first known to be in the queue; `null` if it never was. */
  readonly queuedAt: number | null
  /** How it was answered first, leaving out `queued`. */
  readonly verdict: 'granted' | 'skip' | 'dissolved' | 'refused' | 'open'
  /** The entry that brought the verdict; `null` while it is open. */
  readonly answer: HistoryEntry | null
  /** The decision was not made before this instant. */
  readonly earliest: number
  /** The decision had been made by this instant; `Infinity` while it is open. */
  readonly answered: number
}

/**
 * How one call was answered, with the defaults of the recorder filled in. A replay that is told that
 * its request was granted and has `ended` since still does not know when.
 */
export function answerOf(entry: HistoryEntry): NonNullable<HistoryEntry['answer']> | 'unknown' {
  if (entry.outcome === 'info' || entry.code === 'ended') return 'unknown'
  if (entry.outcome === 'fail') return 'refused'
  if (entry.answer !== undefined) return entry.answer
  return entry.op === 'acquire' || entry.op === 'begin' ? 'granted' : 'done'
}

/** All requests among the entries of a history, by their first call. */
export function collectRequests(byCall: readonly HistoryEntry[]): LockRequest[] {
  const groups: HistoryEntry[][] = []
  const current = new Map<string, HistoryEntry[]>()
  const finishCalls = new Map<string, number>()
  for (const entry of byCall) {
    const owner = `${subjectOf(entry)} ${ownerOf(entry)}`
    if (entry.op === 'finish' && entry.outcome !== 'fail') finishCalls.set(owner, entry.call)
    if (entry.op !== 'acquire' && entry.op !== 'begin') continue
    if (entry.outcome === 'fail' && entry.code === 'bad_request') continue
    const name = requestName(entry)
    const group = current.get(name)
    if (group === undefined || hasEnded(group, entry, finishCalls.get(owner))) {
      const started = [entry]
      groups.push(started)
      current.set(name, started)
    } else {
      group.push(entry)
    }
  }
  return groups.map(toRequest)
}

/**
 * The attempts that may have had an effect of which nobody was told: their answer was lost, or they
 * were last told to wait. Attempts for a lock share one standing, so one of them speaks for all;
 * each attempt at an operation may have had an effect of its own.
 */
export function untoldAttempts({ op, verdict, entries }: LockRequest): HistoryEntry[] {
  const untold = entries.filter((entry, index) => {
    return answerOf(entry) === 'unknown' || (verdict === 'open' && index === 0)
  })
  return op === 'begin' ? untold : untold.slice(0, 1)
}

/** The verdicts of one kind only, for checks that need nothing else. */
export function grantedOf(requests: readonly LockRequest[]): GrantedRequest[] {
  return requests.filter((request): request is GrantedRequest => request.verdict === 'granted')
}

export interface GrantedRequest extends LockRequest {
  readonly verdict: 'granted'
  readonly answer: HistoryEntry
}

function requestName(entry: HistoryEntry): string {
  const owner = ownerOf(entry)
  const reqId = entry.reqId ?? (entry.op === 'begin' ? owner : undefined)
  return JSON.stringify([subjectOf(entry), entry.op, owner, reqId ?? entry.id])
}

/** Refusals of requests that never stood in the queue, so that nothing is remembered of them. */
const TURNED_AWAY = new Set(['held', 'deadlock', 'upgrade_conflict', 'limit', 'no_session'])

// Asking anew under the same id after having been turned away is a new request. A node that
// finished, was refused or was skipped begins anew under the same name, too.
function hasEnded(
  group: readonly HistoryEntry[],
  next: HistoryEntry,
  finishCall: number | undefined,
): boolean {
  const first = group[0] as HistoryEntry
  if (next.op === 'begin' && next.version !== first.version) return true
  if (finishCall !== undefined && finishCall > first.call) return true
  return group.some((entry) => {
    const answer = answerOf(entry)
    if (answer === 'queued' || answer === 'unknown') return false
    if (answer === 'granted') {
      const isSame = answerOf(next) === 'granted' && entry.token === next.token
      return next.op === 'begin' && !isSame
    }
    const forgotten = next.op === 'begin' || TURNED_AWAY.has(entry.code ?? '')
    return forgotten && entry.ret < next.call
  })
}

function toRequest(entries: readonly HistoryEntry[]): LockRequest {
  const first = entries[0] as HistoryEntry
  const answer = firstFinalAnswer(entries)
  const answered = answer?.ret ?? Infinity
  const queuedCalls = entries.filter(
    (entry) => answerOf(entry) === 'queued' && entry.call < answered,
  )
  const queuedTimes = [
    ...queuedCalls.map(({ ret }) => ret),
    ...entries.flatMap(({ queuedAt }) => queuedAt ?? []),
  ]
  return {
    subject: subjectOf(first),
    key: first.key ?? '',
    op: first.op === 'begin' ? 'begin' : 'acquire',
    owner: ownerOf(first),
    mode: first.op === 'begin' ? 'write' : (first.mode ?? 'write'),
    lane: first.lane,
    entries,
    queuedAt: queuedTimes.length === 0 ? null : Math.min(...queuedTimes),
    verdict: answer === null ? 'open' : (answerOf(answer) as LockRequest['verdict']),
    answer,
    earliest: Math.max(first.call, ...queuedCalls.map(({ call }) => call)),
    answered,
  }
}

function firstFinalAnswer(entries: readonly HistoryEntry[]): HistoryEntry | null {
  const final = entries.filter((entry) => !['queued', 'unknown'].includes(answerOf(entry)))
  return final.reduce<HistoryEntry | null>((first, entry) => {
    return first === null || entry.ret < first.ret ? entry : first
  }, null)
}

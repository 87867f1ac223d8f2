import type { HistoryEntry } from '../../history.ts'
import { partitionBy } from '../../linearizability.ts'
import type { Evidence } from '../evidence.ts'
import type { LockRequest } from './requests.ts'
import { answerOf } from './requests.ts'
import { ownerOf, subjectOf } from '../subject.ts'
import type { Violation } from '../violation.ts'

/**
 * However often a request is sent, it counts once: one token, one step of the counts, one place in
 * the queue, one release. The same id with another mode is refused.
 */
export function checkAtMostOnce({ requests, entries }: Evidence): Violation[] {
  const acquires = requests.filter(({ op }) => op === 'acquire')
  const byOwner = partitionBy(acquires, ({ subject, owner }) => `${subject} ${owner}`)
  return [
    ...[...byOwner.values()].flatMap((ofOwner) => [
      ...ofOwner.flatMap((request) => checkReplays(request, ofOwner)),
      ...checkCounts(ofOwner),
    ]),
    ...checkPlaces(entries),
    ...checkReleases(entries),
  ]
}

// A replay may show the token of a later upgrade, which the owner got by another request.
function checkReplays(request: LockRequest, ofOwner: readonly LockRequest[]): Violation[] {
  const granted = grantedEntries(request)
  const first = granted[0]
  if (first === undefined) return []
  const isElsewhere = (token: number | undefined): boolean =>
    ofOwner.some((other) => other !== request && grantedEntries(other).some(hasToken(token)))
  return granted.slice(1).flatMap((replay) => {
    if ((replay.mode ?? 'write') !== (first.mode ?? 'write')) {
      return [toViolation(first, 'was granted in two modes under one request id', replay)]
    }
    if (replay.token === first.token || isElsewhere(replay.token)) return []
    const tokens = `${first.token} and ${replay.token}`
    return [toViolation(first, `was granted twice, with tokens ${tokens}`, replay)]
  })
}

// No answer can show more steps than requests were sent that may have made one.
function checkCounts(ofOwner: readonly LockRequest[]): Violation[] {
  const seen = ofOwner.flatMap((request) => grantedEntries(request))
  return seen.flatMap((entry) =>
    (['read', 'write'] as const).flatMap((mode) => {
      const shown = (mode === 'read' ? entry.reads : entry.writes) ?? 0
      const possible = ofOwner.filter((request) => {
        return request.mode === mode && mayHaveCounted(request, entry)
      })
      if (shown <= possible.length) return []
      const message = `shows ${mode} count ${shown} after ${possible.length} requests for it`
      return [toViolation(entry, message)]
    }),
  )
}

function mayHaveCounted(request: LockRequest, seen: HistoryEntry): boolean {
  const first = request.entries[0] as HistoryEntry
  return request.verdict !== 'refused' && first.call < seen.ret
}

// A queue in which the same owner and request id stand twice was seen by somebody.
function checkPlaces(entries: readonly HistoryEntry[]): Violation[] {
  return entries.flatMap((entry) => {
    const named = (entry.waiters ?? []).filter(({ reqId }) => reqId !== undefined)
    const names = named.map(({ owner, reqId }) => JSON.stringify([owner, reqId]))
    const twice = names.find((name, index) => names.indexOf(name) !== index)
    return twice === undefined ? [] : [toViolation(entry, `shows ${twice} twice in the queue`)]
  })
}

// A release that is repeated under its id must not take the counts further down.
function checkReleases(entries: readonly HistoryEntry[]): Violation[] {
  const releases = entries.filter(({ op, reqId, outcome }) => {
    return op === 'release' && reqId !== undefined && outcome === 'ok'
  })
  const byId = partitionBy(releases, (entry) => {
    return JSON.stringify([subjectOf(entry), ownerOf(entry), entry.reqId])
  })
  return [...byId.values()].flatMap(([first, ...replays]) =>
    replays.flatMap((replay) => {
      const isLower = isBelow(replay.reads, first?.reads) || isBelow(replay.writes, first?.writes)
      if (first === undefined || !isLower) return []
      return [toViolation(first, 'was released twice under one request id', replay)]
    }),
  )
}

function isBelow(later: number | undefined, earlier: number | undefined): boolean {
  return later !== undefined && earlier !== undefined && later < earlier
}

function grantedEntries(request: LockRequest): HistoryEntry[] {
  return request.entries
    .filter((entry) => answerOf(entry) === 'granted')
    .sort((a, b) => a.ret - b.ret)
}

function hasToken(token: number | undefined): (entry: HistoryEntry) => boolean {
  return (entry) => entry.token === token
}

function toViolation(entry: HistoryEntry, what: string, other?: HistoryEntry): Violation {
  return {
    property: 'at-most-once',
    message: `${subjectOf(entry)}: request ${entry.reqId ?? entry.id} of ${ownerOf(entry)} ${what}`,
    entries: other === undefined ? [entry] : [entry, other],
  }
}

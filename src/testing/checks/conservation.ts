import type { HistoryEntry, HolderSeen } from '../history.ts'
import { partitionBy } from '../linearizability.ts'
import type { Evidence } from './evidence.ts'
import { acknowledgedLeave } from './hold-end.ts'
import type { Hold } from './holds.ts'
import type { LockRequest } from './requests/requests.ts'
import { ownerOf, subjectOf } from './subject.ts'
import type { Violation } from './violation.ts'
import { mayHaveLeft } from './waiting.ts'

/**
 * Nothing appears and nothing vanishes: every holder that is shown was granted and is not over,
 * every hold that must stand is shown with its counts, who waits is shown, nobody gives up more
 * than it got, and no hold ends twice.
 */
export function checkConservation(evidence: Evidence): Violation[] {
  const checks = evidence.entries.filter(({ op, outcome }) => op === 'check' && outcome === 'ok')
  return [
    ...checks.flatMap((check) => checkSighting(check, evidence)),
    ...checkBalance(evidence),
    ...checkSingleEnd(evidence),
  ]
}

function checkSighting(check: HistoryEntry, evidence: Evidence): Violation[] {
  const subject = subjectOf(check)
  const holds = evidence.holds.filter((hold) => hold.subject === subject)
  const requests = evidence.requests.filter((request) => request.subject === subject)
  const found: string[] = []
  for (const holder of check.holders ?? []) {
    if (!isPossible(holder, check, { holds, requests })) {
      found.push(`${holder.owner} is shown as a holder without a grant that stands`)
    }
  }
  if (check.holders !== undefined) {
    found.push(...holds.flatMap((hold) => describeHold(hold, check, evidence)))
  }
  if (check.waiters !== undefined) {
    const missing = requests.filter((request) => isMissing(request, check, evidence))
    found.push(...missing.map(({ owner }) => `${owner} waits and is not shown`))
  }
  return found.map((what) => toViolation(subject, what, [check]))
}

function isPossible(
  holder: HolderSeen,
  check: HistoryEntry,
  { holds, requests }: Pick<Evidence, 'holds' | 'requests'>,
): boolean {
  const standing = holds.some((hold) => {
    return hold.owner === holder.owner && hold.earliest < check.ret && !isOver(hold, check.call)
  })
  if (standing) return true
  return requests.some((request) => {
    return (
      request.owner === holder.owner &&
      request.verdict === 'open' &&
      (request.entries[0]?.call ?? Infinity) < check.ret
    )
  })
}

// Only an acknowledged end is certain. One who was granted the key while an operator ended holds may
// have come after those.
function isOver({ end, from }: Hold, by: number): boolean {
  if (end === null || end.record.kind !== 'op') return false
  if (end.cause === 'forced' && from > end.record.call) return false
  return (end.cause === 'left' || end.cause === 'forced') && end.record.ret < by
}

function describeHold(hold: Hold, check: HistoryEntry, evidence: Evidence): string[] {
  if (hold.from >= check.call || check.ret >= hold.until) return []
  const shown = (check.holders ?? []).find(({ owner }) => owner === hold.owner)
  if (shown === undefined) return [`${hold.owner} holds it and is not shown`]
  const counts = hold.countsAt(check.call)
  const isSame =
    (shown.reads ?? counts.reads) === counts.reads &&
    (shown.writes ?? counts.writes) === counts.writes
  if (isSame || isChanging(hold, check, evidence)) return []
  const expected = `${counts.reads} reads and ${counts.writes} writes`
  return [`${hold.owner} is shown with other counts than ${expected}`]
}

// Another step of the same owner may take effect around the check, or nobody knows when it did.
function isChanging(hold: Hold, check: HistoryEntry, { requests, entries }: Evidence): boolean {
  const isNear = (call: number, ret: number): boolean => call < check.ret && ret > check.call
  const isAsking = requests.some((request) => {
    const isOwn = request.subject === hold.subject && request.owner === hold.owner
    return isOwn && isNear(request.entries[0]?.call ?? 0, request.answered)
  })
  if (isAsking) return true
  return entries.some((entry) => {
    const isOwn = subjectOf(entry) === hold.subject && ownerOf(entry) === hold.owner
    return isOwn && entry.op === 'release' && isNear(entry.call, entry.ret)
  })
}

function isMissing(request: LockRequest, check: HistoryEntry, evidence: Evidence): boolean {
  const { verdict, queuedAt } = request
  if (request.op !== 'acquire' || (queuedAt ?? Infinity) >= check.call) return false
  if (verdict !== 'open' && (verdict !== 'granted' || request.answered <= check.ret)) return false
  if (mayHaveLeft(request, check.ret, evidence) || isCancelled(request, check.ret, evidence))
    return false
  const shown = [...(check.waiters ?? []), ...(check.holders ?? [])]
  return !shown.some(({ owner }) => owner === request.owner)
}

function isCancelled(request: LockRequest, by: number, { entries }: Evidence): boolean {
  return entries.some((entry) => {
    if (entry.call > by || entry.outcome === 'fail') return false
    if (entry.op === 'session') {
      return entry.action === 'end' && entry.session === request.entries[0]?.session
    }
    const isCancel = entry.op === 'cancel' || entry.op === 'force'
    return isCancel && subjectOf(entry) === request.subject
  })
}

function checkBalance({ requests, entries }: Evidence): Violation[] {
  const left = entries.filter(({ op, outcome }) => {
    return (op === 'release' || op === 'finish') && outcome === 'ok'
  })
  const byOwner = partitionBy(left, (entry) => `${subjectOf(entry)} ${ownerOf(entry)}`)
  return [...byOwner.values()].flatMap((steps) => {
    const last = steps.at(-1) as HistoryEntry
    const subject = subjectOf(last)
    const owner = ownerOf(last)
    const distinct = new Set(
      steps.map(({ op, reqId, id }) => (op === 'finish' ? id : (reqId ?? id))),
    )
    const possible = requests.filter((request) => {
      const isOwn = request.subject === subject && request.owner === owner
      return isOwn && request.verdict !== 'refused' && request.verdict !== 'skip'
    })
    if (distinct.size <= possible.length) return []
    const what = `${owner} gave up ${distinct.size} steps of at most ${possible.length}`
    return [toViolation(subject, what, steps)]
  })
}

function checkSingleEnd({ holds, marks }: Evidence): Violation[] {
  const expired = new Set<string>()
  return marks.flatMap((mark) => {
    if (mark.name !== 'expired') return []
    const subject = subjectOf(mark)
    const name = `${subject} ${mark.token}`
    if (mark.token === undefined) return []
    const released = holds.some((hold) => {
      const isIt = hold.subject === subject && hold.tokens.at(-1) === mark.token
      return isIt && acknowledgedLeave(hold) !== null
    })
    const what = `the hold with token ${mark.token} ended twice`
    const isSecond = released || expired.has(name)
    expired.add(name)
    return isSecond ? [toViolation(subject, what, [mark])] : []
  })
}

function toViolation(subject: string, what: string, entries: Violation['entries']): Violation {
  return { property: 'conservation', message: `${subject}: ${what}`, entries }
}

import type { HistoryEntry } from '../history.ts'
import { partitionBy } from '../linearizability.ts'
import type { Evidence } from './evidence.ts'
import type { LockRequest } from './requests/requests.ts'
import { answerOf } from './requests/requests.ts'
import { ownerOf, subjectOf } from './subject.ts'
import type { Violation } from './violation.ts'

/**
 * A request that was answered with a time-out, a cancel or a refusal never holds afterwards, and is
 * not seen among the holders or waiters either.
 */
export function checkNoGhost({ requests, entries }: Evidence): Violation[] {
  const endings = collectEndings(entries, requests)
  const checks = entries.filter(({ op, outcome }) => op === 'check' && outcome === 'ok')
  const byOwner = partitionBy(endings, ({ request }) => ownerName(request))
  return [
    ...endings.flatMap(checkLateGrant),
    ...checks.flatMap((check) => checkSeen(check, { byOwner, requests })),
  ]
}

/** From when on a request is known never to hold, or not any more. */
interface Ending {
  readonly request: LockRequest
  readonly at: number
  readonly record: HistoryEntry
}

// A cancel without an id means every request of its owner that was sent before.
function collectEndings(
  entries: readonly HistoryEntry[],
  requests: readonly LockRequest[],
): Ending[] {
  const cancels = entries.filter(({ op, outcome }) => op === 'cancel' && outcome === 'ok')
  return requests.flatMap((request) => {
    const { verdict, answer } = request
    if (verdict === 'refused' && answer !== null) {
      return [{ request, at: answer.ret, record: answer }]
    }
    if (verdict !== 'open') return []
    const cancel = cancels.find((entry) => isAbout(entry, request))
    return cancel === undefined ? [] : [{ request, at: cancel.ret, record: cancel }]
  })
}

function isAbout(cancel: HistoryEntry, request: LockRequest): boolean {
  const first = request.entries[0] as HistoryEntry
  if (subjectOf(cancel) !== request.subject || ownerOf(cancel) !== request.owner) return false
  return cancel.reqId === undefined ? first.call < cancel.call : cancel.reqId === first.reqId
}

function checkLateGrant({ request, at, record }: Ending): Violation[] {
  const late = request.entries.find((entry) => answerOf(entry) === 'granted' && entry.call > at)
  if (late === undefined) return []
  const message = `was granted after it had ended (${record.code ?? record.op})`
  return [toViolation(request, message, [record, late])]
}

interface SeenContext {
  readonly byOwner: ReadonlyMap<string, readonly Ending[]>
  readonly requests: readonly LockRequest[]
}

function checkSeen(check: HistoryEntry, { byOwner, requests }: SeenContext): Violation[] {
  const subject = subjectOf(check)
  const seen = [
    ...(check.holders ?? []).map(({ owner }) => ({ owner, reqId: undefined, as: 'holder' })),
    ...(check.waiters ?? []).map(({ owner, reqId }) => ({ owner, reqId, as: 'waiter' })),
  ]
  return seen.flatMap(({ owner, reqId, as }) => {
    const endings = byOwner.get(ownerName({ subject, owner })) ?? []
    const over = endings.filter(({ at }) => at < check.call)
    const possible = requests.filter((request) => {
      const first = request.entries[0] as HistoryEntry
      return (
        request.subject === subject &&
        request.owner === owner &&
        (reqId === undefined || first.reqId === reqId) &&
        first.call < check.ret &&
        over.every((ending) => ending.request !== request)
      )
    })
    const ghost = over.findLast(({ request }) => {
      return reqId === undefined || request.entries[0]?.reqId === reqId
    })
    if (possible.length > 0 || ghost === undefined) return []
    return [toViolation(ghost.request, `is seen as a ${as} after its end`, [ghost.record, check])]
  })
}

function ownerName({ subject, owner }: { subject: string; owner: string }): string {
  return `${subject} ${owner}`
}

function toViolation(
  request: LockRequest,
  what: string,
  entries: readonly HistoryEntry[],
): Violation {
  const id = request.entries[0]?.reqId ?? request.entries[0]?.id
  const message = `${request.subject}: request ${id} of ${request.owner} ${what}`
  return { property: 'no-ghost', message, entries }
}

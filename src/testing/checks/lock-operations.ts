import type { HistoryEntry } from '../history.ts'
import type { TimedOperation } from '../linearizability.ts'
import { partitionBy } from '../linearizability.ts'
import type { ReadWriteOperation, SeenHolder } from '../models/read-write-lock.ts'
import type { Evidence } from './evidence.ts'
import { acknowledgedLeave, firstPossibleEnd } from './hold-end.ts'
import type { Hold } from './holds.ts'
import type { LockRequest } from './requests/requests.ts'
import { answerOf, grantedOf, untoldAttempts } from './requests/requests.ts'
import { ownerOf, subjectOf } from './subject.ts'

type Timed = TimedOperation<ReadWriteOperation>

/**
 * A history in the vocabulary of the read-write lock model, by subject. Retries are one operation,
 * from the first call to the first answer. What may or may not have happened ends open: lost
 * answers, waiters that nobody heard of again, leases that may have passed.
 */
export function toLockOperations(evidence: Evidence): Map<string, Timed[]> {
  const { requests, holds, entries } = evidence
  const unseen = requests.map((request) => ({ request, holds: unseenHoldsOf(request) }))
  const unsure = unseen.filter((item) => item.holds.length > 0).map(({ request }) => request)
  const tokens = orderTokens(requests, new Set(unsure.map(ownerName)))
  const operations = new Map<string, Timed[]>()
  const add = (subject: string, timed: readonly Timed[]): void => {
    const known = operations.get(subject)
    if (known === undefined) operations.set(subject, [...timed])
    else known.push(...timed)
  }
  for (const request of requests) {
    add(request.subject, [...blockedOf(request), ...verdictOf(request, tokens)])
  }
  for (const hold of holds) add(hold.subject, endOfHold(hold))
  for (const entry of mergeReleases(entries)) {
    add(subjectOf(entry), operationsOfEntry(entry))
  }
  for (const item of unseen) add(item.request.subject, item.holds)
  for (const entry of entries) {
    if (entry.op !== 'cancel' || entry.outcome === 'fail') continue
    for (const request of requests) add(request.subject, undoneBy(entry, request))
  }
  return operations
}

// A cancel undoes the request that it names. One that names none undoes what was not answered before it.
function undoneBy(cancel: HistoryEntry, request: LockRequest): Timed[] {
  const { op, owner, mode, subject, entries, verdict, answered } = request
  if (op !== 'acquire' || verdict !== 'granted') return []
  if (answered < cancel.call && cancel.reqId === undefined) return []
  if (subject !== subjectOf(cancel) || owner !== ownerOf(cancel)) return []
  if (cancel.reqId !== undefined && cancel.reqId !== entries[0]?.reqId) return []
  return [{ operation: { kind: 'undo', owner, mode }, call: cancel.call, ret: Infinity }]
}

/** For each token of a subject the next smaller one, leaving out those whose origin is unsure. */
type TokenOrder = ReadonlyMap<string, number>

// Where an attempt of the same owner got lost, a token may be older than the answer that shows it,
// unless its counts show that this was the first step.
function orderTokens(requests: readonly LockRequest[], unsure: ReadonlySet<string>): TokenOrder {
  const granted = grantedOf(requests).filter((request) => {
    const { reads, writes } = request.answer
    const isFirst = request.mode === 'write' ? writes === 1 : reads === 1 && writes === 0
    return isFirst || !unsure.has(ownerName(request))
  })
  const previous = new Map<string, number>()
  for (const [subject, ofSubject] of partitionBy(granted, (request) => request.subject)) {
    const tokens = ofSubject.flatMap(({ answer }) => answer.token ?? []).sort((a, b) => a - b)
    let before = 0
    for (const token of new Set(tokens)) {
      previous.set(`${subject} ${token}`, before)
      before = token
    }
  }
  return previous
}

function ownerName({ subject, owner }: LockRequest): string {
  return `${subject} ${owner}`
}

// To be told `queued` is to be told that somebody else stands in the way.
function blockedOf({ entries, owner, mode }: LockRequest): Timed[] {
  const entry = entries.find((candidate) => {
    return candidate.queuedAt !== undefined || answerOf(candidate) === 'queued'
  })
  if (entry === undefined) return []
  const ret = entry.queuedAt ?? entry.ret
  return [{ operation: { kind: 'blocked', owner, mode }, call: entry.call, ret }]
}

function verdictOf(request: LockRequest, tokens: TokenOrder): Timed[] {
  const { owner, mode, answer, earliest: call, answered: ret } = request
  const after = tokens.get(`${request.subject} ${answer?.token}`)
  switch (request.verdict) {
    case 'granted':
      return [
        { operation: { kind: 'acquire', owner, mode, after, ...shownBy(request) }, call, ret },
      ]
    case 'refused':
      if (answer?.code === 'held')
        return [{ operation: { kind: 'blocked', owner, mode }, call, ret }]
      if (answer?.code === 'upgrade_conflict') {
        return [{ operation: { kind: 'upgrade-conflict', owner }, call, ret }]
      }
      return []
    case 'open':
    case 'skip':
    case 'dissolved':
      return []
  }
}

// Counts are compared only where no other step can have come between the grant and its answer.
function shownBy({ op, entries, answer }: LockRequest): Omit<SeenHolder, 'owner'> {
  const isDirect = op === 'acquire' && entries.length === 1 && entries[0]?.queuedAt === undefined
  if (!isDirect) return { token: answer?.token }
  return { token: answer?.token, reads: answer?.reads, writes: answer?.writes }
}

// A waiter that left may have been granted the lock and have lost it again without being told, and
// an attempt whose answer was lost may have been granted. Attempts for a lock are one request: it
// does not hold if it was refused in the end, and it has no other hold if it was granted.
function unseenHoldsOf(request: LockRequest): Timed[] {
  const { op, owner, mode, entries, verdict } = request
  const isLeaver = hasLeft(request)
  if (op === 'acquire' && verdict !== 'open' && !isLeaver) return []
  const untold = untoldAttempts(request)
  const left = isLeaver ? entries.slice(0, 1) : []
  const attempts = op === 'acquire' && isLeaver ? left : new Set([...left, ...untold])
  return [...attempts].flatMap(({ call, outcome }): Timed[] => {
    const possible: ReadWriteOperation[] = [
      { kind: 'acquire', owner, mode },
      { kind: 'expire', owner },
    ]
    // What was given to somebody who had given up is taken back, and no more than that.
    if (op === 'acquire' && outcome === 'info') possible.push({ kind: 'undo', owner, mode })
    return possible.map((operation) => ({ operation, call, ret: Infinity }))
  })
}

/** Refusals that only a request can get that stood in the queue, whether or not it was told so. */
const LEFT = new Set(['cancelled', 'abandoned', 'disconnected'])

function hasLeft({ verdict, queuedAt, answer }: LockRequest): boolean {
  if (verdict !== 'refused' || answer?.code === 'timeout') return false
  return queuedAt !== null || LEFT.has(answer?.code ?? '')
}

function endOfHold(hold: Hold): Timed[] {
  const call = firstPossibleEnd(hold)
  if (acknowledgedLeave(hold) !== null || call === Infinity) return []
  const operation = { kind: 'expire', owner: hold.owner, token: hold.tokens.at(-1) } as const
  return [{ operation, call, ret: Infinity }]
}

function operationsOfEntry(entry: HistoryEntry): Timed[] {
  const { call, ret } = entry
  return toOperations(entry).map((operation) => ({ operation, call, ret }))
}

function toOperations(entry: HistoryEntry): ReadWriteOperation[] {
  const { op, outcome, mode, token, holders } = entry
  const owner = ownerOf(entry)
  if (op === 'check') {
    return outcome === 'ok' && holders !== undefined ? [{ kind: 'read', holders }] : []
  }
  if (op === 'force') return outcome === 'fail' ? [] : [{ kind: 'force', owner: entry.owner }]
  if (op !== 'release' && op !== 'finish' && op !== 'renew') return []
  if (outcome === 'fail') return refusalOf(entry)
  if (op === 'renew') return outcome === 'ok' ? [{ kind: 'renew', owner, token }] : []
  return [{ kind: 'release', owner, mode, token }]
}

function refusalOf(entry: HistoryEntry): ReadWriteOperation[] {
  const { code, mode, token } = entry
  const owner = ownerOf(entry)
  if (code === 'stale_token' && token !== undefined) return [{ kind: 'stale-token', owner, token }]
  return code === 'not_holder' ? [{ kind: 'not-holder', owner, mode }] : []
}

// A release that was sent again under its id took effect once, at the latest when first answered.
function mergeReleases(entries: readonly HistoryEntry[]): HistoryEntry[] {
  const merged = new Map<string, HistoryEntry>()
  for (const entry of entries) {
    const isNamed = entry.op === 'release' && entry.reqId !== undefined
    const id = isNamed ? entry.reqId : entry.id
    const name = JSON.stringify([isNamed, subjectOf(entry), ownerOf(entry), id])
    const first = merged.get(name)
    if (first === undefined) merged.set(name, entry)
    else if (entry.ret < first.ret) merged.set(name, { ...entry, call: first.call })
  }
  return [...merged.values()]
}

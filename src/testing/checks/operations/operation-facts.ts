import { ENDED_REMEMBERED_MS } from '../../../law/model/limits.ts'
import type { HistoryEntry } from '../../history.ts'
import { partitionBy } from '../../linearizability.ts'
import type { HoldEvidence } from '../hold-evidence.ts'
import type { LockRequest } from '../requests/requests.ts'
import { grantedOf, untoldAttempts } from '../requests/requests.ts'
import { ownerOf, spaceOf, subjectOf } from '../subject.ts'

/** An operation that was reported as a success; it took effect between `call` and `ret`. */
export interface Success {
  readonly entry: HistoryEntry
  readonly type: string
  readonly version: string | undefined
  readonly call: number
  /** `Infinity` if nobody knows whether it was applied. */
  readonly ret: number
}

/** A node's coming to refer to the resource: between `call` and `ret`, or perhaps never. */
export interface ReferenceAdded {
  readonly node: string
  readonly call: number
  /** `Infinity` if nobody knows whether it happened. */
  readonly ret: number
  /** The node may not know of it, and then loses it again. */
  readonly isUnclaimed?: boolean
}

/** Everything that a history tells about the operations on one resource. */
export interface OperationFacts {
  readonly subject: string
  readonly requests: readonly LockRequest[]
  /** By call. Only where the engine remembers outcomes, that is with coordination `server`. */
  readonly successes: readonly Success[]
  /** By successful and by skipped pulls. */
  readonly additions: readonly ReferenceAdded[]
  /** By call; those that dropped every reference of a node are in the facts of each resource. */
  readonly unrefs: readonly HistoryEntry[]
  /** Answers that showed the references: checks, and refusals that named the nodes. */
  readonly sightings: readonly HistoryEntry[]
}

export function collectOperationFacts(evidence: HoldEvidence): OperationFacts[] {
  const { requests } = evidence
  const entries = evidence.entries.filter((entry) => spaceOf(entry) === 'operation')
  const begun = partitionBy(
    requests.filter(({ op }) => op === 'begin'),
    ({ subject }) => subject,
  )
  const everywhere = entries.filter(({ op, key }) => op === 'unref' && key === undefined)
  const bySubject = partitionBy(
    entries.filter(({ key }) => key !== undefined),
    subjectOf,
  )
  return [...bySubject].map(([subject, own]) => {
    const ofSubject = begun.get(subject) ?? []
    const successes = own.filter(isSuccess).map((entry) => toSuccess(entry, ofSubject))
    const pulled = successes.filter(({ type }) => type === 'pull').map(({ entry }) => entry)
    return {
      subject,
      requests: ofSubject,
      successes,
      additions: [
        ...pulled.map((entry) => ({ node: nodeOf(entry), call: entry.call, ret: entry.ret })),
        ...ofSubject.flatMap(skippedPulls),
      ],
      unrefs: [...own.filter(({ op }) => op === 'unref'), ...everywhere]
        .filter(({ outcome }) => outcome !== 'fail')
        .sort((a, b) => a.call - b.call),
      sightings: own.filter(({ refs, outcome }) => refs !== undefined && outcome !== 'info'),
    }
  })
}

/** Which node an operation or an unref is about. */
export function nodeOf(entry: {
  readonly node?: string | undefined
  readonly proc: string
}): string {
  return entry.node ?? entry.proc
}

export function isServerCoordinated(entry: HistoryEntry): boolean {
  return (entry.coordination ?? 'server') === 'server'
}

// Each attempt whose answer was lost may have been skipped, whatever the next one was told.
function skippedPulls(request: LockRequest): ReferenceAdded[] {
  const first = request.entries[0] as HistoryEntry
  if (first.type !== 'pull' || !isServerCoordinated(first)) return []
  const node = nodeOf(first)
  const { verdict, earliest: call, answered: ret } = request
  const told = verdict === 'skip' ? [{ node, call, ret }] : []
  // A node that came late for its answer may have had a reference before, and lost it.
  const isLate = verdict === 'skip' && ret - call >= ENDED_REMEMBERED_MS / 2
  const unknown = untoldAttempts(request).map((entry) => entry.call)
  const untold = [...unknown, ...(isLate ? [call] : [])].map((from) => {
    return { node, call: from, ret: Infinity, isUnclaimed: true }
  })
  return [...told, ...untold]
}

function isSuccess(entry: HistoryEntry): boolean {
  const isApplied = entry.op === 'finish' && entry.outcome !== 'fail'
  return isApplied && entry.success === true && isServerCoordinated(entry)
}

// A finish need not repeat the version that its begin named.
function toSuccess(entry: HistoryEntry, requests: readonly LockRequest[]): Success {
  const owner = ownerOf(entry)
  const begun = grantedOf(requests).findLast((request) => {
    return request.owner === owner && (request.entries[0]?.call ?? Infinity) < entry.call
  })
  return {
    entry,
    type: entry.type ?? owner.slice(0, owner.indexOf(':')),
    version: entry.version ?? begun?.entries[0]?.version,
    call: entry.call,
    ret: entry.ret,
  }
}

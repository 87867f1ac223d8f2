import { ENDED_REMEMBERED_MS } from '../../../law/model/limits.ts'
import type { HistoryEntry } from '../../history.ts'
import type { TimedOperation } from '../../linearizability.ts'
import type { ReferenceOperation } from '../../models/reference-set.ts'
import type { Evidence } from '../evidence.ts'
import type { CheckSettings } from '../check-options.ts'
import { acknowledgedLeave, firstPossibleEnd } from '../hold-end.ts'
import type { Hold } from '../holds.ts'
import { isServerCoordinated, nodeOf, type ReferenceAdded } from './operation-facts.ts'
import type { Span } from './reference-times.ts'
import type { LockRequest } from '../requests/requests.ts'
import { untoldAttempts } from '../requests/requests.ts'
import { ownerOf, subjectOf } from '../subject.ts'

type Timed = TimedOperation<ReferenceOperation>

/** A history in the vocabulary of the reference set model, by resource. */
export function toReferenceOperations(evidence: Evidence): Map<string, Timed[]> {
  const { operations, settings } = evidence
  const holds = evidence.holds.filter(isDelete)
  const finishes = evidence.entries.filter(isDeleteFinish)
  const bySubject = operations.map((facts): [string, Timed[]] => {
    const { subject } = facts
    return [
      subject,
      [
        ...facts.additions.flatMap((added) => additionOf(added, evidence)),
        ...facts.requests.flatMap((request) => verdictOf(request, settings)),
        ...facts.unrefs.map((entry) => timed({ kind: 'drop', node: nodeOf(entry) }, entry)),
        ...holds.filter((hold) => hold.subject === subject).flatMap(expiryOf),
        ...finishes.filter((entry) => subjectOf(entry) === subject).map(finishOf),
        ...facts.sightings.flatMap(sightingOf),
      ],
    ]
  })
  return new Map(bySubject)
}

function additionOf(added: ReferenceAdded, { entries, settings }: Evidence): Timed[] {
  const { node, isUnclaimed = false } = added
  const addition = timed({ kind: 'add', node, isUnclaimed }, added)
  const call = added.call + ENDED_REMEMBERED_MS * (1 - settings.clockRateError)
  const isOver = !entries.some((entry) => entry.ret > call && entry.ret < Infinity)
  if (!isUnclaimed || isOver) return [addition]
  return [addition, timed({ kind: 'lapse', node }, { call, ret: Infinity })]
}

function verdictOf(request: LockRequest, settings: CheckSettings): Timed[] {
  const first = request.entries[0] as HistoryEntry
  const { owner, verdict, answer } = request
  if (!isServerCoordinated(first)) return []
  if (answer?.code === 'in_use') {
    return [timed({ kind: 'in-use', nodes: answer.refs }, spanOf(request))]
  }
  if (first.type === 'update' && verdict === 'granted' && settings.updateRequiresNoRef) {
    return [timed({ kind: 'read', nodes: [] }, spanOf(request))]
  }
  if (first.type !== 'delete') return []
  const untold = untoldAttempts(request).flatMap(({ call }) => [
    timed({ kind: 'delete-begin', owner }, { call, ret: Infinity }),
    timed({ kind: 'delete-expire', owner }, { call, ret: Infinity }),
  ])
  if (verdict !== 'granted') return untold
  return [timed({ kind: 'delete-begin', owner }, spanOf(request)), ...untold]
}

function expiryOf(hold: Hold): Timed[] {
  const call = firstPossibleEnd(hold)
  if (acknowledgedLeave(hold) !== null || call === Infinity) return []
  return [timed({ kind: 'delete-expire', owner: hold.owner }, { call, ret: Infinity })]
}

function finishOf(entry: HistoryEntry): Timed {
  const success = entry.success === true
  return timed({ kind: 'delete-end', owner: ownerOf(entry), success }, entry)
}

// The nodes of a refusal belong to the verdict of its request.
function sightingOf(entry: HistoryEntry): Timed[] {
  if (entry.op !== 'check' || entry.refs === undefined) return []
  return [timed({ kind: 'read', nodes: entry.refs }, entry)]
}

function isDelete({ requests }: Hold): boolean {
  const first = requests[0]?.entries[0]
  return first?.op === 'begin' && first.type === 'delete' && isServerCoordinated(first)
}

function isDeleteFinish(entry: HistoryEntry): boolean {
  const isApplied = entry.op === 'finish' && entry.outcome !== 'fail'
  return isApplied && entry.type === 'delete' && isServerCoordinated(entry)
}

function spanOf({ earliest, answered }: LockRequest): Span {
  return { call: earliest, ret: answered }
}

function timed(operation: ReferenceOperation, { call, ret }: Span): Timed {
  return { operation, call, ret }
}

import type { HistoryEntry } from '../../history.ts'
import type { Evidence } from '../evidence.ts'
import type { Hold } from '../holds.ts'
import { isServerCoordinated } from './operation-facts.ts'
import type { Span } from './reference-times.ts'
import { ReferenceTimes } from './reference-times.ts'
import type { LockRequest } from '../requests/requests.ts'
import type { Violation } from '../violation.ts'

/**
 * A delete is granted only while nobody refers to the resource, and refused with `in_use` only
 * while somebody may; while it runs, no pull is skipped. (That none is granted is exclusion.)
 */
export function checkDelete({ holds, operations, settings }: Evidence): Violation[] {
  const deletes = holds.filter(({ requests }) => {
    return requests[0]?.op === 'begin' && requests[0].entries[0]?.type === 'delete'
  })
  return operations.flatMap((facts) => {
    const times = new ReferenceTimes(facts)
    const running = deletes.filter(({ subject }) => subject === facts.subject)
    return facts.requests.flatMap((request) => {
      const first = request.entries[0] as HistoryEntry
      if (!isServerCoordinated(first)) return []
      const needsNoRef =
        first.type === 'delete' || (first.type === 'update' && settings.updateRequiresNoRef)
      if (request.verdict === 'skip')
        return first.type === 'pull' ? checkSkip(request, running) : []
      return needsNoRef ? checkVerdict(request, times) : []
    })
  })
}

function checkVerdict(request: LockRequest, times: ReferenceTimes): Violation[] {
  const span: Span = { call: request.earliest, ret: request.answered }
  const node = times.nodes.find((candidate) => times.mustRefer(candidate, span))
  if (request.verdict === 'granted' && node !== undefined) {
    return [toViolation(request, `was granted although ${node} refers to it`)]
  }
  if (request.answer?.code !== 'in_use') return []
  const isUsed = times.nodes.some((candidate) => times.mayRefer(candidate, span))
  return isUsed ? [] : [toViolation(request, 'was refused although nobody refers to it')]
}

function checkSkip(request: LockRequest, running: readonly Hold[]): Violation[] {
  const during = running.some(({ from, until }) => {
    return from < request.earliest && request.answered < until
  })
  return during ? [toViolation(request, 'was skipped while a delete was running')] : []
}

function toViolation(request: LockRequest, what: string): Violation {
  const message = `${request.subject}: ${request.owner} ${what}`
  return { property: 'delete', message, entries: request.entries }
}

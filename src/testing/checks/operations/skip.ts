import type { HistoryEntry } from '../../history.ts'
import type { Evidence } from '../evidence.ts'
import type { Success } from './operation-facts.ts'
import { isServerCoordinated } from './operation-facts.ts'
import { OutcomeMemory } from '../requests/outcome-memory.ts'
import type { LockRequest } from '../requests/requests.ts'
import type { Violation } from '../violation.ts'

/**
 * `skip` is answered only after a success of the same type and version that is still remembered
 * and not undone, and with its value; and who asks for what is certainly remembered is not granted
 * the work a second time.
 */
export function checkSkip({ operations, settings }: Evidence): Violation[] {
  return operations.flatMap((facts) => {
    const memory = new OutcomeMemory(facts, settings)
    return facts.requests.flatMap((request) => {
      if (!isServerCoordinated(request.entries[0] as HistoryEntry)) return []
      if (request.verdict === 'skip') return checkSkipped(request, memory)
      return request.verdict === 'granted' ? checkGranted(request, memory) : []
    })
  })
}

function checkSkipped(request: LockRequest, memory: OutcomeMemory): Violation[] {
  const same = memory.ofSameWork(request)
  const possible = same.filter((success) => memory.mayRemember(success, request))
  if (possible.length === 0) {
    const why = same.length === 0 ? 'without any success' : 'after the success had gone'
    return [toViolation(request, `was skipped ${why}`, same)]
  }
  const value = JSON.stringify(request.answer?.value)
  const isLeft = possible.some(({ entry }) => JSON.stringify(entry.value) === value)
  return isLeft ? [] : [toViolation(request, 'was given a value that nobody left', possible)]
}

function checkGranted(request: LockRequest, memory: OutcomeMemory): Violation[] {
  const done = memory.ofSameWork(request).filter((success) => memory.mustRemember(success, request))
  return done.length === 0 ? [] : [toViolation(request, 'was granted work that was done', done)]
}

function toViolation(request: LockRequest, what: string, successes: readonly Success[]): Violation {
  const entries = [...successes.map(({ entry }) => entry), ...request.entries]
  return { property: 'skip', message: `${request.subject}: ${request.owner} ${what}`, entries }
}

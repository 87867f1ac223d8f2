import type { LinearizabilityResult, SequentialModel, TimedOperation } from '../linearizability.ts'
import { checkLinearizable } from '../linearizability.ts'
import { readWriteLock } from '../models/read-write-lock.ts'
import { referenceSet } from '../models/reference-set.ts'
import type { Evidence } from './evidence.ts'
import { toLockOperations } from './lock-operations.ts'
import { toReferenceOperations } from './operations/reference-operations.ts'
import type { Violation } from './violation.ts'

export interface LinearizabilityReport {
  readonly violations: readonly Violation[]
  /** What the search could not decide within its budget. Never a pass. */
  readonly undecided: readonly string[]
  readonly searches: number
  readonly steps: number
}

/**
 * Searches, for every key, an order of its operations that the read-write lock allows, and for
 * every resource one that the reference set allows.
 */
export function checkLinearizabilityByKey(evidence: Evidence): LinearizabilityReport {
  const { stepsMax } = evidence.settings
  const searches = [
    ...[...toLockOperations(evidence)].map(([subject, operations]) => {
      return search(`${subject} as a lock`, { model: readWriteLock, operations, stepsMax })
    }),
    ...[...toReferenceOperations(evidence)].map(([subject, operations]) => {
      return search(`references of ${subject}`, { model: referenceSet, operations, stepsMax })
    }),
  ]
  return {
    violations: searches.flatMap(({ violations }) => violations),
    undecided: searches.flatMap(({ name, result }) => (result.kind === 'unknown' ? name : [])),
    searches: searches.length,
    steps: searches.reduce((sum, { result }) => sum + result.steps, 0),
  }
}

interface SearchInput<State, Operation> {
  readonly model: SequentialModel<State, Operation>
  readonly operations: readonly TimedOperation<Operation>[]
  readonly stepsMax: number
}

interface SearchOutput {
  readonly name: string
  readonly result: LinearizabilityResult
  readonly violations: readonly Violation[]
}

function search<State, Operation>(
  name: string,
  { model, operations, stepsMax }: SearchInput<State, Operation>,
): SearchOutput {
  const result = checkLinearizable(model, operations, { stepsMax })
  if (result.kind !== 'impossible') return { name, result, violations: [] }
  const blocked = operations[result.blocked] as TimedOperation<Operation>
  const message =
    `${name}: no order of its ${operations.length} operations is legal; nothing explains ` +
    `${JSON.stringify(blocked.operation)} between ${blocked.call} and ${blocked.ret}`
  return { name, result, violations: [{ property: 'linearizability', message, entries: [] }] }
}

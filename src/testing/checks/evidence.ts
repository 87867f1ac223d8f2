import type { History } from '../history.ts'
import type { CheckOptions } from './check-options.ts'
import { toCheckSettings } from './check-options.ts'
import type { HoldEvidence } from './hold-evidence.ts'
import type { Hold } from './holds.ts'
import { collectHolds } from './holds.ts'
import type { OperationFacts } from './operations/operation-facts.ts'
import { collectOperationFacts } from './operations/operation-facts.ts'
import { collectRequests } from './requests/requests.ts'
import { entriesOf, marksOf } from './subject.ts'

/** A history, read once for all checks. */
export interface Evidence extends HoldEvidence {
  /** Grouped by key and owner, and in order within a group. */
  readonly holds: readonly Hold[]
  /** One for each resource. */
  readonly operations: readonly OperationFacts[]
}

/** Looks at a history in every way that a check needs. */
export function gatherEvidence(history: History, options?: CheckOptions): Evidence {
  const settings = toCheckSettings(options)
  const entries = entriesOf(history)
  const marks = marksOf(history)
  const requests = collectRequests(entries)
  const records: HoldEvidence = { entries, marks, requests, settings }
  return {
    ...records,
    holds: collectHolds(records),
    operations: collectOperationFacts(records),
  }
}

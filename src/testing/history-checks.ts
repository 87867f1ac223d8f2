import { checkAtMostOnce } from './checks/requests/at-most-once.ts'
import type { CheckOptions } from './checks/check-options.ts'
import { checkConservation } from './checks/conservation.ts'
import { checkDelete } from './checks/operations/delete.ts'
import { checkNoEarlyExpiry } from './checks/early-expiry.ts'
import type { Evidence } from './checks/evidence.ts'
import { gatherEvidence } from './checks/evidence.ts'
import { checkExclusion } from './checks/exclusion.ts'
import { checkFencing } from './checks/fencing.ts'
import { checkLinearizabilityByKey } from './checks/linearizability-by-key.ts'
import { checkNoGhost } from './checks/no-ghost.ts'
import { checkQueueOrder } from './checks/queue-order.ts'
import { checkReferences } from './checks/operations/references.ts'
import { checkSkip } from './checks/operations/skip.ts'
import type { Violation } from './checks/violation.ts'
import type { History } from './history.ts'

/** What became of one recorded run. */
export interface HistoryReport {
  /** `unknown` means that a search ran out of budget; only `pass` is a pass. */
  readonly verdict: 'pass' | 'fail' | 'unknown'
  readonly violations: readonly Violation[]
  /** The searches that were not decided. */
  readonly undecided: readonly string[]
  /** How much was looked at, so that an empty run cannot be mistaken for a good one. */
  readonly counts: {
    readonly operations: number
    readonly ok: number
    readonly fail: number
    readonly info: number
    readonly faults: number
    readonly searches: number
    readonly steps: number
  }
}

/** The cheap checks: each is a sort and a scan, and reports every violation that it finds. */
const CHECKS: readonly ((evidence: Evidence) => Violation[])[] = [
  checkExclusion,
  checkFencing,
  checkAtMostOnce,
  checkQueueOrder,
  checkNoGhost,
  checkSkip,
  checkReferences,
  checkDelete,
  checkNoEarlyExpiry,
  checkConservation,
]

/** Marks that report what was seen; every other mark is a deed of the nemesis. */
const SIGHTINGS = new Set(['lost', 'expired'])

/**
 * Runs every check on a history, then the search for a legal order on each key, and refuses runs
 * in which too little went well to show anything.
 */
export function checkHistory(history: History, options?: CheckOptions): HistoryReport {
  const evidence = gatherEvidence(history, options)
  const { entries, marks } = evidence
  const search = checkLinearizabilityByKey(evidence)
  const violations = [
    ...CHECKS.flatMap((check) => check(evidence)),
    ...search.violations,
    ...checkSuccessRate(evidence),
  ]
  const undecided = search.undecided.length === 0 ? 'pass' : 'unknown'
  return {
    verdict: violations.length > 0 ? 'fail' : undecided,
    violations,
    undecided: search.undecided,
    counts: {
      operations: entries.length,
      ok: entries.filter(({ outcome }) => outcome === 'ok').length,
      fail: entries.filter(({ outcome }) => outcome === 'fail').length,
      info: entries.filter(({ outcome }) => outcome === 'info').length,
      faults: marks.filter(({ name }) => !SIGHTINGS.has(name)).length,
      searches: search.searches,
      steps: search.steps,
    },
  }
}

function checkSuccessRate({ entries, marks, settings }: Evidence): Violation[] {
  const ok = entries.filter(({ outcome }) => outcome === 'ok')
  if (ok.length === 0 || ok.length < entries.length * settings.successRatioMin) {
    const message = `only ${ok.length} of ${entries.length} operations went well: not a test`
    return [{ property: 'success-rate', message, entries: [] }]
  }
  const lastFault = marks.findLast(({ name }) => !SIGHTINGS.has(name))
  if (lastFault === undefined || ok.some(({ call }) => call > lastFault.at)) return []
  const message = `nothing went well after the last fault, ${lastFault.name} at ${lastFault.at}`
  return [{ property: 'success-rate', message, entries: [lastFault] }]
}

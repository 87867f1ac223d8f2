import type { HistoryRecord } from '../history.ts'

/** One proof that a history is not what the law allows. */
export interface Violation {
  readonly property: Property
  /** What is wrong, on which key, between whom, at which instants. */
  readonly message: string
  /** The records that prove it. */
  readonly entries: readonly HistoryRecord[]
}

/** The properties that can be violated, one per check. */
export type Property =
  | 'exclusion'
  | 'fencing'
  | 'at-most-once'
  | 'queue-order'
  | 'no-ghost'
  | 'skip'
  | 'references'
  | 'delete'
  | 'no-early-expiry'
  | 'conservation'
  | 'linearizability'
  | 'success-rate'

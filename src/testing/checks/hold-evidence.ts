import type { HistoryEntry, HistoryMark } from '../history.ts'
import type { CheckSettings } from './check-options.ts'
import type { LockRequest } from './requests/requests.ts'

/** A history as far as it tells who held what. */
export interface HoldEvidence {
  readonly settings: CheckSettings
  /** By call. */
  readonly entries: readonly HistoryEntry[]
  /** By time. */
  readonly marks: readonly HistoryMark[]
  /** By first call. */
  readonly requests: readonly LockRequest[]
}

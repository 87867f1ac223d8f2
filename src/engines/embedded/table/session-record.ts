import { silentAtMs } from '../../../law/sessions.ts'
import type { Session } from '../../../law/model/view.ts'
import type { DueItem } from './due-heap.ts'
import type { HoldRecord } from './hold-record.ts'
import { Roster } from './roster.ts'
import type { WaiterRecord } from './waiter-record.ts'

/**
 * A session as the table keeps it: what it was told at last, and what it has. It is in the heap unless its
 * client is silent and it has holds alone: then it ends with the last of them.
 */
export class SessionRecord implements Session, DueItem {
  readonly id: string
  graceMs = 0
  keepsLeases = true
  heardAtMs = 0
  /** No decision sees it any more; what it has is about to end. */
  hasEnded = false
  heapIndex = -1
  readonly holds: Roster<HoldRecord> = new Roster()
  readonly waiters: Roster<WaiterRecord> = new Roster()

  constructor(session: Session) {
    this.id = session.id
    this.assign(session)
  }

  assign(session: Session): void {
    this.graceMs = session.graceMs
    this.keepsLeases = session.keepsLeases
    this.heardAtMs = session.heardAtMs
  }

  get dueAtMs(): number {
    return silentAtMs(this)
  }
}

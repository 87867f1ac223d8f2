import { silentAtMs } from '../../law/sessions.ts'
import type { Session } from '../../law/view.ts'
import type { DueItem } from './due-heap.ts'
import type { HoldRecord } from './hold-record.ts'
import { Roster } from './roster.ts'
import type { WaiterRecord } from './waiter-record.ts'

/** A session as the table keeps it: what it was told at last, and what ends with it. */
export class SessionRecord implements Session, DueItem {
  readonly id: string
  graceMs = 0
  keepsLeases = true
  heardAtMs = 0
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

import type { Mode, OperationFacts, Waiter } from '../../../law/model/view.ts'
import type { DueItem } from './due-heap.ts'
import type { KeyState } from './key-state.ts'
import type { Listed } from './roster.ts'

/** A waiter as the table keeps it, with its place in the lane. */
export class WaiterRecord implements Waiter, DueItem, Listed {
  readonly state: KeyState
  readonly owner: string
  readonly requestId: string
  readonly party: string
  readonly session: string | undefined
  readonly mode: Mode
  readonly lane: number
  readonly ttlMs: number
  readonly sinceMs: number
  readonly meta: string | undefined
  readonly operation: OperationFacts | undefined
  upgrade: boolean
  connected: boolean
  deadlineAtMs: number
  leaseAtMs: number
  joined: readonly string[] | undefined
  heapIndex = -1
  rosterIndex = -1
  /** Kept by the lane: the number of this place since the lane began, and the neighbours. */
  place = -1
  before: WaiterRecord | undefined = undefined
  behind: WaiterRecord | undefined = undefined

  constructor(state: KeyState, waiter: Waiter) {
    this.state = state
    this.owner = waiter.owner
    this.requestId = waiter.requestId
    this.party = waiter.party
    this.session = waiter.session
    this.mode = waiter.mode
    this.lane = waiter.lane
    this.ttlMs = waiter.ttlMs
    this.sinceMs = waiter.sinceMs
    this.meta = waiter.meta
    this.operation = waiter.operation
    this.upgrade = waiter.upgrade
    this.connected = waiter.connected
    this.deadlineAtMs = waiter.deadlineAtMs
    this.leaseAtMs = waiter.leaseAtMs
    this.joined = waiter.joined
  }

  get dueAtMs(): number {
    return Math.min(this.deadlineAtMs, this.leaseAtMs)
  }
}

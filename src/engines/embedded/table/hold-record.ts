import type { Hold, OperationFacts, Step } from '../../../law/model/view.ts'
import type { DueItem } from './due-heap.ts'
import type { KeyState } from './key-state.ts'
import type { Listed } from './roster.ts'

/** What most holds do not have. */
interface Rare {
  readonly party: string
  readonly session: string | undefined
  readonly meta: string | undefined
  readonly operation: OperationFacts | undefined
  /** Its place on the roster of its session. */
  rosterIndex: number
}

/**
 * A hold as the table keeps it, small because there may be a million: what an ordinary hold does not
 * have sits in an object of its own, and a single, taken step is its request id alone.
 */
export class HoldRecord implements Hold, DueItem, Listed {
  readonly state: KeyState
  readonly owner: string
  reads = 0
  writes = 0
  token = 0
  sinceMs = 0
  leaseAtMs = 0
  ttlMs = 0
  heapIndex = -1
  #steps: string | readonly Step[] = ''
  #rare: Rare | undefined

  constructor(state: KeyState, hold: Hold) {
    this.state = state
    this.owner = hold.owner
    this.assign(hold)
  }

  assign(hold: Hold): void {
    this.reads = hold.reads
    this.writes = hold.writes
    this.token = hold.token
    this.sinceMs = hold.sinceMs
    this.leaseAtMs = hold.leaseAtMs
    this.ttlMs = hold.ttlMs
    const [step] = hold.steps
    const isPlain = step !== undefined && hold.steps.length === 1 && isPlainStep(step)
    this.#steps = isPlain ? step.requestId : hold.steps
    this.#rare = toRare(hold, this.rosterIndex)
  }

  get party(): string {
    return this.#rare?.party ?? this.owner
  }

  get session(): string | undefined {
    return this.#rare?.session
  }

  get meta(): string | undefined {
    return this.#rare?.meta
  }

  get operation(): OperationFacts | undefined {
    return this.#rare?.operation
  }

  /** Only what a session has is on a roster. */
  get rosterIndex(): number {
    return this.#rare?.rosterIndex ?? -1
  }

  set rosterIndex(index: number) {
    if (this.#rare !== undefined) this.#rare.rosterIndex = index
  }

  get steps(): readonly Step[] {
    if (typeof this.#steps !== 'string') return this.#steps
    const mode = this.writes > 0 ? 'write' : 'read'
    return [{ requestId: this.#steps, mode, claimByMs: null }]
  }

  /** The end of the lease, or of the time in which a grant must be taken if that is sooner. */
  get dueAtMs(): number {
    if (typeof this.#steps === 'string') return this.leaseAtMs
    let dueAtMs = this.leaseAtMs
    for (const { claimByMs } of this.#steps) {
      if (claimByMs !== null && claimByMs < dueAtMs) dueAtMs = claimByMs
    }
    return dueAtMs
  }
}

/** Nothing to say of it but its request id. */
function isPlainStep({ claimByMs, joined }: Step): boolean {
  return claimByMs === null && joined === undefined
}

function toRare(hold: Hold, rosterIndex: number): Rare | undefined {
  const { party, session, meta, operation } = hold
  const isOrdinary =
    party === hold.owner && session === undefined && meta === undefined && operation === undefined
  return isOrdinary ? undefined : { party, session, meta, operation, rosterIndex }
}
